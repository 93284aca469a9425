// The first schema. RULES: no collection has a public rule (null: superusers only), and every
// field has a limit chosen on purpose. A shipped migration is never changed; add the next one.
migrate((app) => {
  const KIB = 1024, MIB = 1024 * KIB;
  const text = (name, max, more) => ({ type: "text", name, max, required: true, ...more });
  const count = (name) => ({ type: "number", name, onlyInt: true, min: 0 });
  const json = (name, maxSize) => ({ type: "json", name, maxSize });
  const time = (name) => text(name, 32, { pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}Z$" });
  const add = (name, fields, indexes) => app.save(new Collection({
    type: "base", name, fields, indexes,
    listRule: null, viewRule: null, createRule: null, updateRule: null, deleteRule: null,
  }));

  const settings = app.settings();
  settings.meta.appName = "Sandgate";
  settings.meta.hideControls = true; // the schema is changed by migrations, not by hand
  settings.batch.enabled = true;
  settings.batch.maxRequests = 500;
  settings.batch.timeout = 10; // seconds
  settings.batch.maxBodySize = 32 * MIB;
  settings.logs.maxDays = 1;
  settings.logs.minLevel = 8; // errors only: the request log would copy every address we ask for
  app.save(settings);

  // PocketBase's own example collection lets anyone sign up.
  app.delete(app.findCollectionByNameOrId("users"));
  // A sign-in from a new place would send mail through the host's sendmail.
  const superusers = app.findCollectionByNameOrId("_superusers");
  superusers.authAlert.enabled = false;
  app.save(superusers);

  add("runs", [
    text("task", 255), text("agent", 255), text("engagement", 255), text("state", 16),
    count("version"), time("created"), json("body", MIB),
  ], [
    "CREATE UNIQUE INDEX idx_runs_active_task ON runs (task) WHERE state != 'ended'",
    "CREATE UNIQUE INDEX idx_runs_active_agent ON runs (agent) WHERE state != 'ended'",
    "CREATE INDEX idx_runs_task_created ON runs (task, created)",
    "CREATE INDEX idx_runs_created ON runs (created)",
  ]);
  add("events", [
    text("run", 15), count("seq"), time("at"), text("kind", 64),
    json("data", MIB), // the adapter bounds an event to 128 KiB; escaping can make it 6 times that
  ], ["CREATE UNIQUE INDEX idx_events_run_seq ON events (run, seq)"]);
  add("usage", [
    text("run", 15), text("engagement", 255, { required: false }),
    count("input_tokens"), count("output_tokens"), count("cache_read_tokens"), count("cache_write_tokens"),
    text("cost_usd", 40, { pattern: "^\\d+(\\.\\d+)?$" }), // a decimal: numbers here are binary floats
    count("calls"),
  ], [
    "CREATE INDEX idx_usage_run ON usage (run)",
    "CREATE INDEX idx_usage_engagement ON usage (engagement)",
  ]);
  add("task_state", [
    text("task", 255), count("version"), json("body", 256 * KIB),
  ], ["CREATE UNIQUE INDEX idx_task_state_task ON task_state (task)"]);
  add("secrets", [
    text("name", 128), text("kid", 64), count("version"),
    text("blob", 64 * KIB, { pattern: "^[A-Za-z0-9+/]+=*$" }), json("meta", 16 * KIB),
  ], ["CREATE UNIQUE INDEX idx_secrets_name ON secrets (name)"]);
}, (app) => {
  for (const name of ["runs", "events", "usage", "task_state", "secrets"]) {
    app.delete(app.findCollectionByNameOrId(name));
  }
});
