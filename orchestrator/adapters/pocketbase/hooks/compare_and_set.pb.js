// POST /api/sandgate/cas/{collection}/{id}, body {"expected": 3, "set": {...}}: sets the fields and
// makes the version 4 if it is 3 now, else 409. The record must be of a collection with a version.
routerAdd("POST", "/api/sandgate/cas/{collection}/{id}", (e) => {
  const body = e.requestInfo().body;
  const expected = body.expected;
  if (!Number.isInteger(expected) || typeof body.set !== "object") {
    throw new ApiError(422, "expected (a whole number) and set (an object) are needed");
  }
  $app.runInTransaction((tx) => {
    let record;
    try {
      record = tx.findRecordById(e.request.pathValue("collection"), e.request.pathValue("id"));
    } catch {
      throw new NotFoundError("no such record");
    }
    if (!record.collection().fields.getByName("version")) {
      throw new ApiError(422, "records of this collection have no version");
    }
    if (record.getInt("version") !== expected) {
      throw new ApiError(409, "the version is " + record.getInt("version") + ", not " + expected);
    }
    for (const name in body.set) record.set(name, body.set[name]);
    record.set("version", expected + 1);
    tx.save(record);
  });
  return e.json(200, { version: expected + 1 });
}, $apis.requireSuperuserAuth());
