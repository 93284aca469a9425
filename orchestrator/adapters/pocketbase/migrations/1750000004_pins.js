// Tools of servers as they were when they were first granted. A row is never changed; its id is made from
// the connection and the tool, so that it is there once.
migrate((app) => {
  app.save(new Collection({
    type: "base", name: "pins",
    fields: [
      { type: "text", name: "connection", max: 32, required: true },
      { type: "json", name: "body", maxSize: 128 * 1024 },
    ],
    indexes: ["CREATE INDEX idx_pins_connection ON pins (connection)"],
    listRule: null, viewRule: null, createRule: null, updateRule: null, deleteRule: null,
  }));
}, (app) => {
  app.delete(app.findCollectionByNameOrId("pins"));
});
