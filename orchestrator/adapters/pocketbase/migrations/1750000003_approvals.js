// The inbox: what agents want and people decide. All of an item is in `body`; beside it are the columns
// that are asked for. An item's id is made from the run and what it wants, so that it is there once.
migrate((app) => {
  const text = (name, max, more) => ({ type: "text", name, max, required: true, ...more });
  app.save(new Collection({
    type: "base", name: "approvals",
    fields: [
      text("kind", 32), text("state", 16), text("run", 15), text("task", 255), text("project", 255),
      { type: "number", name: "version", onlyInt: true, min: 0 },
      text("asked", 32, { pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}Z$" }),
      { type: "json", name: "body", maxSize: 256 * 1024 },
    ],
    indexes: [
      "CREATE INDEX idx_approvals_state_asked ON approvals (state, asked)",
      "CREATE INDEX idx_approvals_run ON approvals (run)",
      "CREATE INDEX idx_approvals_task ON approvals (task)",
    ],
    listRule: null, viewRule: null, createRule: null, updateRule: null, deleteRule: null,
  }));
}, (app) => {
  app.delete(app.findCollectionByNameOrId("approvals"));
});
