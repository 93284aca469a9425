-- Version 1. Everything that a person could look up is here; attachment bytes are files beside it.
CREATE TABLE revision (
    number  INTEGER PRIMARY KEY AUTOINCREMENT,
    at      TEXT NOT NULL,
    author  TEXT NOT NULL
) STRICT;

CREATE TABLE user (
    id          TEXT PRIMARY KEY,
    name        TEXT NOT NULL,
    email       TEXT NOT NULL DEFAULT '',
    description TEXT,  -- JSON
    disabled    INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE user_role (
    user    TEXT NOT NULL REFERENCES user (id) ON DELETE CASCADE,
    project TEXT NOT NULL,  -- '' for a global role
    role    TEXT NOT NULL,
    PRIMARY KEY (user, project, role)
) STRICT, WITHOUT ROWID;

-- Personal access tokens. Only hashes: a stolen database opens nothing.
CREATE TABLE token (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    sha256  TEXT NOT NULL UNIQUE,
    user    TEXT NOT NULL REFERENCES user (id) ON DELETE CASCADE,
    name    TEXT NOT NULL,
    created TEXT NOT NULL,
    expires TEXT
) STRICT;

CREATE TABLE project (
    id             TEXT PRIMARY KEY,
    name           TEXT NOT NULL,
    kind           TEXT NOT NULL,
    tracker_prefix TEXT NOT NULL,
    description    TEXT,  -- JSON
    active         INTEGER NOT NULL DEFAULT 1,
    next_number    INTEGER NOT NULL DEFAULT 1,  -- numbers are never given twice
    created        TEXT NOT NULL,
    revision       INTEGER NOT NULL
) STRICT;

CREATE TABLE work_item (
    rowid      INTEGER PRIMARY KEY,
    project    TEXT NOT NULL REFERENCES project (id),
    id         TEXT NOT NULL,
    number     INTEGER NOT NULL,
    type       TEXT NOT NULL,
    title      TEXT NOT NULL,
    status     TEXT NOT NULL,
    author     TEXT NOT NULL,
    created    TEXT NOT NULL,
    updated    TEXT NOT NULL,
    revision   INTEGER NOT NULL,
    attributes TEXT NOT NULL,  -- JSON object: every other field by its id
    UNIQUE (project, id)
) STRICT;
CREATE INDEX work_item_by_type ON work_item (type, status);
CREATE INDEX work_item_by_update ON work_item (updated);

-- Multi-valued references of a work item: assignee, watches, votes, categories.
CREATE TABLE reference (
    item   INTEGER NOT NULL REFERENCES work_item (rowid) ON DELETE CASCADE,
    name   TEXT NOT NULL,
    place  INTEGER NOT NULL,
    type   TEXT NOT NULL,
    target TEXT NOT NULL,
    PRIMARY KEY (item, name, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX reference_by_target ON reference (name, target);

-- Targets are ids, not rows: Polarion stores links to items that don't exist, too.
CREATE TABLE link (
    item    INTEGER NOT NULL REFERENCES work_item (rowid) ON DELETE CASCADE,
    role    TEXT NOT NULL,
    target  TEXT NOT NULL,  -- PROJECT/ITEM
    suspect INTEGER NOT NULL DEFAULT 0,
    revision TEXT,
    PRIMARY KEY (item, role, target)
) STRICT;
CREATE INDEX link_by_target ON link (target);

CREATE TABLE comment (
    item     INTEGER NOT NULL REFERENCES work_item (rowid) ON DELETE CASCADE,
    number   INTEGER NOT NULL,
    author   TEXT NOT NULL,
    created  TEXT NOT NULL,
    title    TEXT,
    body     TEXT NOT NULL,  -- JSON: {"type", "value"}
    resolved INTEGER NOT NULL DEFAULT 0,
    parent   INTEGER,
    PRIMARY KEY (item, number)
) STRICT;

CREATE TABLE attachment (
    item    INTEGER NOT NULL REFERENCES work_item (rowid) ON DELETE CASCADE,
    number  INTEGER NOT NULL,
    name    TEXT NOT NULL,
    title   TEXT NOT NULL,
    author  TEXT NOT NULL,
    updated TEXT NOT NULL,
    length  INTEGER NOT NULL,
    file    TEXT NOT NULL,  -- our own random name in the attachments folder
    PRIMARY KEY (item, number)
) STRICT;
CREATE UNIQUE INDEX attachment_by_name ON attachment (item, name);

CREATE TABLE job (
    id      TEXT PRIMARY KEY,
    name    TEXT NOT NULL,
    state   TEXT NOT NULL,
    status  TEXT NOT NULL,
    message TEXT NOT NULL
) STRICT;
