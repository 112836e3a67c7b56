// Submits one action with the built client, and says what its states were.
const [built, url, namespace, template] = process.argv.slice(2);
const { Client } = await import(built);
const client = new Client({ url, namespace, user: "tester", token: () => process.env.TOKEN });
const submission = client.submission({ key: "task:42", template, parameters: { order: "7" } });
const states = [submission.state];
submission.onChange(() => {
  if (submission.state !== states.at(-1)) {
    states.push(submission.state);
  }
});
const { phase, result } = await submission.wait();
console.log(JSON.stringify({ states: states.join(" "), phase, result }));
