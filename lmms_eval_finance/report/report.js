"use strict";
// The items are data of models and data sets: they go into text nodes and nowhere else.

const PAGE = 100;
const MOST_TAGS = 4;
const byId = (id) => document.getElementById(id);
const chunks = new Map();
let index = null;
let found = [];
let page = 0;
let current = -1;
let search = 0;

async function unpack(id) {
  const bytes = Uint8Array.from(atob(byId(id).textContent), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

function chunk(number) {
  if (!chunks.has(number)) {
    if (chunks.size > 12) chunks.delete(chunks.keys().next().value);
    chunks.set(number, unpack(`chunk-${number}`));
  }
  return chunks.get(number);
}

async function texts(item) {
  return (await chunk(Math.floor(item / index.perChunk)))[item % index.perChunk];
}

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

// Boxes that scroll can be reached by keyboard, the others are no stops on the way.
const scrolling = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth + 1 || target.scrollHeight > target.clientHeight + 1) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }
});

function asText(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  const text = JSON.stringify(value);
  return text.length < 160 ? text : JSON.stringify(value, null, 1);
}

function asOptions(value) {
  if (Array.isArray(value)) return value.map(asText).join("\n");
  if (value && typeof value === "object") return Object.entries(value).map(([letter, text]) => `${letter}. ${asText(text)}`).join("\n");
  return value;
}

// What a screen reader needs for French and Chinese items in an English page.
function language(text, item) {
  if (/\p{Script=Han}/u.test(text)) return "zh";
  const column = index.label.language;
  const named = column && column[item] >= 0 ? index.labels.language[column[item]] : "";
  return named === "french" || index.tasks[index.task[item]].startsWith("mfe_") ? "fr" : "";
}

function textBox(title, text, className) {
  const box = element("div", text, className);
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", title);
  const spoken = language(text, current);
  if (spoken) box.lang = spoken;
  scrolling.observe(box);
  return box;
}

function outcomeClass(outcome) {
  return outcome === "correct" ? "correct" : outcome === "wrong" ? "wrong" : "other";
}

function options(select, entries) {
  select.replaceChildren(...entries.map(([value, text]) => {
    const option = element("option", text);
    option.value = value;
    return option;
  }));
}

// -- filters ----------------------------------------------------------------------------------------

function labelFilters() {
  const task = byId("filter-task").value;
  const chosen = new Map([...byId("filter-labels").querySelectorAll("select")].map((select) => [select.dataset.label, select.value]));
  const made = [];
  for (const [name, values] of Object.entries(index.labels)) {
    const column = index.label[name];
    const used = new Set();
    let items = 0;
    let labelled = 0;
    for (let item = 0; item < column.length; item += 1) {
      if (task !== "" && index.task[item] !== Number(task)) continue;
      items += 1;
      if (column[item] < 0) continue;
      labelled += 1;
      used.add(column[item]);
    }
    // Labels of a few items show once their task is chosen.
    if (used.size < 2 || used.size > 300 || (task === "" && 2 * labelled < items)) continue;
    const select = document.createElement("select");
    select.dataset.label = name;
    const entries = [...used].map((value) => [String(value), values[value]]).sort((one, other) => one[1].localeCompare(other[1], undefined, { numeric: true }));
    options(select, [["", "all"], ...entries]);
    select.value = chosen.get(name) || "";
    if (select.selectedIndex < 0) select.value = "";
    const label = element("label", name.replaceAll("_", " "));
    label.append(select);
    made.push(label);
  }
  byId("filter-labels").replaceChildren(...made);
}

function passes() {
  const task = byId("filter-task").value;
  const run = byId("filter-run").value;
  const outcome = byId("filter-outcome").value;
  const differ = byId("filter-differ").checked;
  const labels = [...byId("filter-labels").querySelectorAll("select")].filter((select) => select.value !== "")
    .map((select) => [index.label[select.dataset.label], Number(select.value)]);
  const runs = run === "" ? index.outcome : [index.outcome[Number(run)]];
  const notRight = index.outcomes.indexOf("correct");
  return (item) => {
    if (task !== "" && index.task[item] !== Number(task)) return false;
    for (const [column, value] of labels) if (column[item] !== value) return false;
    const outcomes = runs.map((column) => column[item]).filter((value) => value >= 0);
    if (outcomes.length === 0) return false;
    if (outcome === "not") { if (outcomes.every((value) => value === notRight)) return false; }
    else if (outcome !== "" && !outcomes.includes(Number(outcome))) return false;
    if (differ) {
      const scores = index.score.map((column) => column[item]).filter((score) => score !== null);
      if (new Set(scores).size < 2) return false;
    }
    return true;
  };
}

async function filter() {
  search += 1;
  const mine = search;
  const test = passes();
  const wanted = byId("filter-text").value.trim().toLowerCase();
  const candidates = [];
  for (let item = 0; item < index.id.length; item += 1) if (test(item)) candidates.push(item);
  if (wanted === "") {
    show(candidates, `${candidates.length.toLocaleString("en")} of ${index.id.length.toLocaleString("en")} items`);
    return;
  }
  const hits = [];
  let shown = 0;
  for (let place = 0; place < candidates.length; place += 1) {
    const item = candidates[place];
    if (index.id[item].toLowerCase().includes(wanted)) hits.push(item);
    else if (JSON.stringify(await texts(item)).toLowerCase().includes(wanted)) hits.push(item);
    if (mine !== search) return;
    if (place % 1000 === 999 && hits.length > shown) {
      shown = hits.length;
      show([...hits], `${hits.length.toLocaleString("en")} items so far …`);
    }
  }
  show(hits, `${hits.length.toLocaleString("en")} of ${candidates.length.toLocaleString("en")} items hold the text`);
}

let waiting = 0;
function filterSoon() {
  clearTimeout(waiting);
  waiting = setTimeout(filter, 150);
}

// -- list -------------------------------------------------------------------------------------------

function show(items, text) {
  found = items;
  page = 0;
  byId("count").textContent = text;
  drawList();
}

function drawList() {
  const rows = found.slice(page * PAGE, (page + 1) * PAGE).map((item) => {
    const button = element("button");
    button.type = "button";
    button.dataset.item = String(item);
    const name = element("span", index.id[item], "name");
    name.append(element("span", ` ${index.tasks[index.task[item]]}`, "task"));
    button.append(name);
    button.append(...tags(item));
    const row = document.createElement("li");
    row.append(button);
    return row;
  });
  byId("list").replaceChildren(...rows);
  markCurrent();
  const pages = Math.max(1, Math.ceil(found.length / PAGE));
  byId("page").textContent = `page ${page + 1} of ${pages}`;
  byId("page-back").disabled = page === 0;
  byId("page-on").disabled = page + 1 >= pages;
  byId("pages").hidden = pages === 1;
}

function tags(item) {
  const had = index.outcome.map((column) => column[item]);
  const shown = had.map((value, run) => [value, run]).filter(([value]) => value >= 0);
  if (shown.length > MOST_TAGS) {
    const right = shown.filter(([value]) => index.outcomes[value] === "correct").length;
    const className = right === shown.length ? "correct" : right === 0 ? "wrong" : "other";
    return [element("span", `${right} of ${shown.length} correct`, `tag ${className}`)];
  }
  return shown.map(([value, run]) => {
    const outcome = index.outcomes[value];
    const tag = element("span", "", `tag ${outcomeClass(outcome)}`);
    if (index.runs.length > 1) {
      tag.title = index.runs[run];
      tag.append(element("span", ` ${index.runs[run]}: `, "unseen"));
    }
    tag.append(outcome.replaceAll("_", " "));
    return tag;
  });
}

// One button of the list is a stop for the Tab key, the arrow keys lead to the others.
function markCurrent() {
  const buttons = [...byId("list").querySelectorAll("button")];
  const marked = buttons.find((button) => button.dataset.item === String(current));
  for (const button of buttons) {
    button.tabIndex = button === (marked || buttons[0]) ? 0 : -1;
    if (button === marked) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  }
  return marked;
}

function turn(step, pressed, other) {
  page += step;
  drawList();
  byId("list").scrollTop = 0;
  if (pressed.disabled) other.focus();
}

// -- one item ---------------------------------------------------------------------------------------

function unmasked(text) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0)));
  } catch {
    return text;
  }
}

function block(title, value, boxed) {
  const text = asText(value);
  if (!text) return [];
  return [element("h4", title), textBox(title, text, boxed ? "text boxed" : "text")];
}

function folded(title, value, unfolded) {
  const text = asText(value);
  if (!text) return [];
  const details = document.createElement("details");
  details.open = Boolean(unfolded);
  details.append(element("summary", title), textBox(title, text, "text boxed"));
  return [details];
}

function pictures(places) {
  return (places || []).map((place, number) => {
    const data = byId(`image-${place}`);
    if (!data) return element("p", "A picture is missing.", "quiet");
    const picture = document.createElement("img");
    picture.alt = `picture ${number + 1} of ${places.length}`;
    picture.src = `data:${data.dataset.kind};base64,${data.textContent}`;
    return picture;
  });
}

function verdicts(own) {
  const rows = [];
  if (own.rule && typeof own.rule === "object") {
    const read = own.rule.choice ? `reads ${asText(own.rule.choice)}` : "";
    rows.push(["rule", [asText(own.rule.verdict), read, asText(own.rule.reason)].filter(Boolean).join("; ")]);
  }
  for (const vote of (Array.isArray(own.votes) ? own.votes : []).filter((one) => one && typeof one === "object")) {
    const verdict = vote.verdict === true ? "correct" : vote.verdict === false ? "incorrect" : "no verdict";
    const read = vote.choice === undefined || vote.choice === null ? "" : `reads ${asText(vote.choice) || "no option"}`;
    rows.push([asText(vote.judge), [verdict, read, asText(vote.reason), asText(vote.reply)].filter(Boolean).join("; ")]);
  }
  return rows;
}

function answer(item, run, own, masked) {
  const box = element("section");
  const outcome = index.outcomes[index.outcome[run][item]];
  const heading = element("h5", `${index.runs[run]}: `);
  const score = index.score[run][item];
  heading.append(element("span", outcome.replaceAll("_", " ") + (score === null ? "" : ` (${score})`), outcomeClass(outcome)));
  box.append(heading);
  const list = document.createElement("dl");
  const rows = [["parsed answer", own.prediction], ["why", own.reason], ...verdicts(own)];
  if (own.gold !== undefined) rows.push(["its own gold", masked ? unmasked(asText(own.gold)) : own.gold]);
  if (own.released !== undefined) rows.push(["gold as released", own.released]);
  for (const [name, number] of Object.entries(own.parts || {})) rows.push([name, String(number)]);
  for (const [name, value] of rows) {
    if (asText(value)) list.append(element("dt", name), element("dd", asText(value)));
  }
  box.append(list, ...folded("explanation", own.explanation), element("h6", "raw output"), textBox("raw output", asText(own.response) || "(empty)", "text boxed"));
  box.append(...folded("its own prompt", own.prompt), ...folded("steps", own.trace), ...folded("passages", own.passages));
  return box;
}

function moves() {
  const place = found.indexOf(current);
  const box = element("p", undefined, "moves");
  for (const [text, by] of [["Previous item", -1], ["Next item", 1]]) {
    const button = element("button", text);
    button.type = "button";
    button.disabled = !(place + by in found);
    button.addEventListener("click", () => step(by, true));
    box.append(button);
  }
  const back = element("button", "To the list");
  back.type = "button";
  back.addEventListener("click", toList);
  box.append(back);
  return box;
}

function toList() {
  const button = markCurrent() || byId("list").querySelector("button");
  if (button) button.focus();
  else byId("filter-text").focus();
}

async function open(item, focus) {
  current = item;
  markCurrent();
  const data = await texts(item);
  if (item !== current) return;
  const labels = Object.entries(index.label).filter(([, column]) => column[item] >= 0)
    .map(([name, column]) => `${name.replaceAll("_", " ")}: ${index.labels[name][column[item]]}`);
  const answers = element("div");
  answers.id = "answers";
  data.runs.forEach((own, run) => { if (own) answers.append(answer(item, run, own, data.masked)); });
  const title = `${index.tasks[index.task[item]]} / ${index.id[item]}`;
  byId("item").setAttribute("aria-label", `Item ${title}`);
  byId("item").replaceChildren(
    moves(),
    element("h3", title),
    element("p", labels.join(" · "), "quiet"),
    ...pictures(data.images),
    ...folded("prompt", data.prompt, !data.question),
    ...folded("context", data.context),
    ...block("question", data.question),
    ...block("options", asOptions(data.options)),
    ...block(data.unit ? `gold (${asText(data.unit)})` : "gold", data.masked ? unmasked(asText(data.gold)) : data.gold, true),
    element("h4", "answers"),
    answers,
  );
  document.body.dataset.shown = String(item);
  history.replaceState(null, "", `#item-${item}`);
  if (focus) byId("item").focus();
}

function step(by, intoItem) {
  const place = found.indexOf(current) + by;
  if (!(place in found)) return;
  const wanted = Math.floor(place / PAGE);
  if (wanted !== page) { page = wanted; drawList(); }
  open(found[place], intoItem);
  if (!intoItem) toList();
}

// -- start ------------------------------------------------------------------------------------------

function wire() {
  byId("filter-task").addEventListener("change", () => { labelFilters(); filter(); });
  for (const id of ["filter-run", "filter-outcome", "filter-differ", "filter-labels"]) byId(id).addEventListener("change", filter);
  byId("filter-text").addEventListener("input", filterSoon);
  byId("filters").addEventListener("submit", (event) => { event.preventDefault(); filter(); });
  byId("filters").addEventListener("reset", () => setTimeout(() => { labelFilters(); filter(); }));
  byId("page-back").addEventListener("click", () => turn(-1, byId("page-back"), byId("page-on")));
  byId("page-on").addEventListener("click", () => turn(1, byId("page-on"), byId("page-back")));
  byId("list").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    // Enter goes into the item, a click (it has a detail) stays in the list beside it.
    if (button) open(Number(button.dataset.item), event.detail === 0 || window.matchMedia("(max-width: 56rem)").matches);
  });
  byId("item").addEventListener("keydown", (event) => { if (event.key === "Escape") toList(); });
  byId("list").addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const by = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
    if (by) { event.preventDefault(); step(by, false); }
  });
}

async function start() {
  for (const box of document.querySelectorAll(".scroll, .plots, pre")) scrolling.observe(box);
  const message = byId("browser-message");
  if (!("DecompressionStream" in window)) {
    message.textContent = "This browser is too old for the list of items (it lacks DecompressionStream); the tables above are complete.";
    return;
  }
  try {
    index = await unpack("index");
  } catch (error) {
    message.textContent = `The items cannot be read: the page is damaged (${error.message}).`;
    return;
  }
  if (index.id.length === 0) { message.textContent = "There are no items."; return; }
  message.textContent = "Filter (a task has filters of its own labels), then choose an item. In the list the arrow keys (or j and k) go through the items, Enter goes into one and Escape back.";
  options(byId("filter-task"), [["", "all"], ...index.tasks.map((task, place) => [String(place), task])]);
  options(byId("filter-run"), [["", index.runs.length > 1 ? "any" : "all"], ...index.runs.map((run, place) => [String(place), run])]);
  const used = new Set(index.outcome.flat().filter((value) => value >= 0));
  options(byId("filter-outcome"), [["", "all"], ["not", "not correct"], ...[...used].sort((a, b) => a - b).map((value) => [String(value), index.outcomes[value].replaceAll("_", " ")])]);
  byId("filter-differ-box").hidden = index.runs.length < 2;
  labelFilters();
  wire();
  byId("filters").hidden = false;
  byId("browser").hidden = false;
  await filter();
  const linked = /^#item-(\d+)$/.exec(location.hash);
  if (linked && Number(linked[1]) < index.id.length) await open(Number(linked[1]), true);
  document.body.dataset.ready = "yes";
}

start();
