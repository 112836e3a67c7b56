// One person's page by itself.
import { person } from "./person.js";
import { address, cast, observe, second, task, version } from "./school.js";

const who = location.pathname.slice(1);
document.title = `${cast[who].name}: homework ${task}, version ${version}`;
document.body.classList.toggle("second", second);
document.querySelector("#all").href = address("/");
const learn = person(document.querySelector("main"), who);
void observe((state) => learn(state?.networks[who]));
