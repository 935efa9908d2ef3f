'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const last = data.moments.length - 1;
const byId = id => document.getElementById(id);
const [source, chart, state, steps] = ['source', 'chart', 'state', 'steps'].map(byId);

/** An element with a class and what is in it. */
function element(tag, className, ...children) {
  const made = document.createElement(tag);
  made.className = className;
  made.append(...children);
  return made;
}

// There is room for no more beside a line.
const MOST_CHIPS = 3;

// What there is in the moment that is shown: values by the numbers of names, and where processes are.
let at = -1, values = [], places = [];

/** Makes `at` the moment after so many steps. */
function replay(moment) {
  if (moment < at) {
    [at, values, places] = [-1, [], []];
  }
  while (at < moment) {
    at += 1;
    data.moments[at].values.forEach(([name, value]) => values[name] = value);
    data.moments[at].places.forEach(([process, place]) => places[process] = place);
  }
}

/** Shows the moment after so many steps, everywhere. */
function show(wanted) {
  const moment = Math.min(Math.max(wanted, 0), last);
  replay(moment - 1);
  const before = values.slice();
  replay(moment);
  byId('slider').value = moment;
  byId('position').textContent = `step ${moment} of ${last}`;
  showNow(data.moments[moment].step);
  showSource(data.moments[moment].step);
  showState(before);
  mark(steps, `.step[data-moment="${moment}"]`);
  mark(chart, `.row[data-step="${moment - 1}"]`);
  history.replaceState(null, '', `#step=${moment}`);
}

/** What happens in this step, and how the run ends if it is the last. */
function showNow(step) {
  const lines = [];
  if (!step) {
    lines.push(element('div', '', 'The start.'));
  } else if (step.act) {
    const acts = [step.act, step.partner].filter(Boolean).flatMap((act, index) => [
      index ? ' → ' : '', element('b', '', act.who), ' ', element('code', '', act.statement), ' ',
      element('span', 'place', placeOf(act))]);
    lines.push(element('div', '', ...acts));
  }
  if (step?.output != null) lines.push(element('div', 'quiet', 'prints ', element('code', '', step.output)));
  if (step?.claim != null) lines.push(element('div', 'quiet', `claim: ${step.claim}`));
  for (const [text, holds] of Object.entries(step?.truths ?? {})) {
    lines.push(element('div', 'quiet', element('code', '', text), ` becomes ${holds}`));
  }
  if (at === last) {
    data.closing.forEach(text => lines.push(element('div', data.is_wrong ? 'wrong' : '', text)));
  } else if (step?.error) {
    lines.push(element('div', 'wrong', step.error));
  }
  byId('now').replaceChildren(...lines);
}

function placeOf(act) {
  const file = data.files[act.file];
  return file ? `${file.name}:${act.line}` : '';
}

/** Where every process is, and what was done last. */
function showSource(step) {
  for (const line of source.querySelectorAll('.current, .acted')) {
    line.classList.remove('current', 'acted');
    line.firstChild.replaceChildren();
  }
  const standing = new Map();
  places.forEach((place, process) => {
    const line = place && lineOf(place);
    if (line) standing.set(line, [...(standing.get(line) ?? []), process]);
  });
  for (const [line, processes] of standing) {
    const chips = processes.map(process => chip(process, String(process), `${places[process].who} is here`));
    const whole = processes.map(process => places[process].who).join(', ');
    line.classList.add('current');
    line.firstChild.append(...(processes.length > MOST_CHIPS ? [chip(0, `${processes.length} processes`, whole)] : chips));
  }
  const acted = [step?.act, step?.partner].filter(Boolean).map(lineOf).filter(Boolean);
  acted.forEach(line => line.classList.add('acted'));
  reveal(source, acted[0]);
}

/** A mark of a process, or of several, beside a line. */
function chip(process, text, title) {
  const made = element('span', 'chip', text);
  made.style.setProperty('--process', process);
  made.title = title;
  return made;
}

const lineOf = place => byId(`line-${place.file}-${place.line}`);

/** All that has a value, with what it was before. */
function showState(before) {
  const groups = new Map([['', []]]);
  places.forEach(place => place && groups.set(place.who, []));
  data.names.forEach((name, number) => {
    const colon = name.indexOf(':');
    const group = colon < 0 ? '' : name.slice(0, colon);
    if (values[number] == null || !groups.has(group)) return;
    const value = element('td', '');
    const changed = at > 0 && before[number] !== values[number];
    if (changed && before[number] != null) value.append(element('span', 'before', before[number]));
    value.append(values[number]);
    groups.get(group).push(element('tr', changed ? 'changed' : '', element('td', '', name.slice(colon + 1)), value));
  });
  const parts = [];
  for (const [who, rows] of groups) {
    const place = places.find(place => place && place.who === who);
    if (who) parts.push(element('h2', '', who));
    if (place) {
      const next = place.statement == null ? 'has ended' : place.statement;
      parts.push(element('div', 'quiet', 'next: ', element('code', '', next), ' ', placeOf(place)));
    }
    if (rows.length) parts.push(element('table', '', element('tbody', '', ...rows)));
  }
  state.replaceChildren(...parts);
}

/** Marks one element in a part of the page, and no other. */
function mark(part, selector) {
  part.querySelector('.current')?.classList.remove('current');
  const found = part.querySelector(selector);
  found?.classList.add('current');
  reveal(part, found);
}

/** Scrolls a part of the page, and nothing else, until an element in it is seen. */
function reveal(part, element) {
  if (!element) return;
  const [inner, outer] = [element, part].map(one => one.getBoundingClientRect());
  if (inner.top < outer.top || inner.bottom > outer.bottom) {
    part.scrollTop += inner.top - outer.top - part.clientHeight / 2;
  }
}

// The source and the list of steps are made once.
data.files.forEach((file, number) => {
  source.append(element('h2', '', file.name));
  if (file.problem) source.append(element('div', 'wrong', file.problem));
  (file.text ?? '').replace(/\n$/, '').split('\n').forEach((text, index) => {
    const line = element('div', 'line', element('span', 'chips'),
      element('span', 'number', String(index + 1)), element('span', '', text));
    line.id = `line-${number}-${index + 1}`;
    source.append(line);
  });
});
data.moments.forEach(({ step }, moment) => {
  const text = step ? [step.act, step.partner].filter(Boolean).map(act => `${act.who}  ${act.statement}`).join(' → ')
    : 'the start';
  const line = element('div', 'step', element('span', 'number', String(step?.number ?? '')),
    element('span', step?.error ? 'wrong' : '', text));
  if (data.cycle_start != null && moment > data.cycle_start) line.classList.add('round');
  line.dataset.moment = moment;
  steps.append(line);
});

byId('slider').max = last;
byId('slider').addEventListener('input', event => show(Number(event.target.value)));
byId('first').addEventListener('click', () => show(0));
byId('back').addEventListener('click', () => show(at - 1));
byId('forth').addEventListener('click', () => show(at + 1));
byId('last').addEventListener('click', () => show(last));
steps.addEventListener('click', event => {
  const line = event.target.closest('.step');
  if (line) show(Number(line.dataset.moment));
});
chart.addEventListener('click', event => {
  const row = event.target.closest('.row');
  if (row) show(Number(row.dataset.step) + 1);
});
const keys = {
  ArrowLeft: () => at - 1, ArrowUp: () => at - 1, ArrowRight: () => at + 1, ArrowDown: () => at + 1,
  PageUp: () => at - 10, PageDown: () => at + 10, Home: () => 0, End: () => last,
};
document.addEventListener('keydown', event => {
  if (event.ctrlKey || event.altKey || event.metaKey || !Object.hasOwn(keys, event.key)) return;
  event.preventDefault();
  show(keys[event.key]());
});

/** A step may be asked for behind the address, as in `#step=5`. */
function showAsked() {
  const asked = /^#step=(\d{1,9})$/.exec(location.hash);
  show(asked ? Number(asked[1]) : 0);
}
window.addEventListener('hashchange', showAsked);
showAsked();
