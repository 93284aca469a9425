// Makes the runner's superuser from a password file, so that no password is ever in an argv or an
// environment. Its tokens stay valid over a restart: a right password is left alone.
onBootstrap((e) => {
  e.next();
  const file = $os.getenv("SANDGATE_PASSWORD_FILE");
  if (!file) return;
  const email = $os.getenv("SANDGATE_SUPERUSER");
  const password = toString($os.readFile(file)).trim();
  e.app.runAllMigrations(); // at the first start there is no table of superusers yet
  let user;
  try {
    user = e.app.findAuthRecordByEmail("_superusers", email);
  } catch {
    user = new Record(e.app.findCollectionByNameOrId("_superusers"));
    user.set("email", email);
  }
  if (!user.validatePassword(password)) {
    user.set("password", password);
    e.app.save(user);
  }
});
