// A call can be paid out of another run's envelope too: that of the run which delegated the task.
migrate((app) => {
  const usage = app.findCollectionByNameOrId("usage");
  usage.fields.add(new TextField({ name: "lender", max: 15 }));
  usage.addIndex("idx_usage_lender", false, "lender", "lender != ''");
  app.save(usage);
}, (app) => {
  const usage = app.findCollectionByNameOrId("usage");
  usage.removeIndex("idx_usage_lender");
  usage.fields.removeByName("lender");
  app.save(usage);
});
