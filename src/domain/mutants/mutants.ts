import type { Case, ScriptStep, Solution } from '../case.ts';
import type { Json, JsonObject } from '../json.ts';
import type { ToolEffect } from '../operation.ts';
import { isList, isObject, printable, quote } from '../text/bounded.ts';
import { canonicalText } from '../text/canonical.ts';
import { alteredText, alteredValue, kindOf, type ValueKind } from './alter.ts';
import { answerMutants } from './answers.ts';
import type { Mutant } from './mutant.ts';

export type { Mutant } from './mutant.ts';

/**
 * Mutants of a case's reference solution.
 *
 * For each step that calls a tool with effect `write` or `external`: `drop`; `repeat` (the same call again, without its idempotency key); `add` (a second call beside it
 * that aims at another target: its first recipient, else id, else amount, else date is altered); `alter` for each argument that is a recipient, amount, date or id; `polite` for each long text.
 * An argument that is a reference such as `${order.total}` is replaced by a literal of the kind that its name tells; one whose name tells nothing is left alone.
 * For the answer, as far as the case grades it: see {@link answerMutants}. Calls of tools that are not in `tools`, reads, and steps that are `invalid` on
 * purpose (nothing comes of them) are never changed.
 */
export function mutantsOf(kase: Case, tools: { readonly [name: string]: { readonly effect: ToolEffect } }): Mutant[] {
  const { steps } = kase.reference;
  const ofSteps = steps.flatMap((step, at) =>
    'call' in step && step.invalid !== true && isWrite(step.call, tools) ? stepMutants(kase.reference, step, at) : [],
  );
  const original = canonicalText(kase.reference as unknown as Json);
  const taken = new Set<string>();
  return [...ofSteps, ...answerMutants(kase)]
    .filter((mutant) => canonicalText(mutant.solution as unknown as Json) !== original)
    .map((mutant) => ({ ...mutant, id: freeName(mutant.id, taken) }));
}

type Call = Extract<ScriptStep, { call: string }>;

const POLITE = 'Thank you for your message. We are glad to be of service and wish you a pleasant day. Kind regards.';
const LONG = 40;
const ALTERABLE: readonly ValueKind[] = ['recipient', 'id', 'amount', 'date'];

function isWrite(tool: string, tools: { readonly [name: string]: { readonly effect: ToolEffect } }): boolean {
  return Object.hasOwn(tools, tool) && tools[tool]?.effect !== 'read';
}

function stepMutants(solution: Solution, step: Call, at: number): Mutant[] {
  const number = at + 1;
  const path = `reference.steps[${at}]`;
  const what = `step ${number} (${printable(step.call)})`;
  const places = placesIn(step.with ?? {}, []);
  const replaced = (...steps: readonly ScriptStep[]): Solution => ({
    ...solution,
    steps: [...solution.steps.slice(0, at), ...steps, ...solution.steps.slice(at + 1)],
  });
  const again = (args: JsonObject | undefined): ScriptStep => ({ call: step.call, ...(args === undefined ? {} : { with: args }) });
  const mutants: Mutant[] = [
    { id: `drop:${number}`, description: `${what} is left out`, path, solution: replaced() },
    { id: `repeat:${number}`, description: `${what} is made twice`, path, solution: replaced(step, again(step.with)) },
  ];
  const target = ALTERABLE.map((kind) => places.find((place) => place.kind === kind && place.altered !== null)).find((place) => place !== undefined);
  if (target !== undefined) {
    const other = again(withAt(step.with ?? {}, target.path, target.altered));
    mutants.push({
      id: `add:${number}`,
      description: `after ${what} a second call with ${target.path.join('.')} ${quote(target.altered)} is added`,
      path,
      solution: replaced(step, other),
    });
  }
  for (const place of places) {
    const name = place.path.join('.');
    const changed = (value: Json): Solution => replaced({ ...step, with: withAt(step.with ?? {}, place.path, value) });
    const at2 = `${path}.with.${name}`;
    if (place.kind !== null && place.altered !== null) {
      mutants.push({
        id: `alter:${number}:${name}`,
        description: `in ${what} the ${place.kind} ${name} is ${quote(place.altered)} instead of ${quote(place.value)}`,
        path: at2,
        solution: changed(place.altered),
      });
    } else if (isBody(place)) {
      mutants.push({
        id: `polite:${number}:${name}`,
        description: `in ${what} the text ${name} is polite and says nothing`,
        path: at2,
        solution: changed(POLITE),
      });
    }
  }
  return mutants;
}

interface PlaceInArguments {
  readonly path: readonly string[];
  readonly value: Json;
  readonly kind: ValueKind | null;
  readonly altered: Json;
}

/** Every single value of the arguments; a list's items carry the name of the list. */
function placesIn(value: Json, path: readonly string[], name = ''): PlaceInArguments[] {
  if (path.length > 8) return [];
  if (isList(value)) return value.flatMap((item, at) => placesIn(item, [...path, String(at)], name));
  if (isObject(value)) return Object.entries(value).flatMap(([key, item]) => placesIn(item, [...path, key], key));
  const kind = kindOf(name, value);
  return [{ path, value, kind, altered: kind === null ? null : alteredValue(kind, value) }];
}

function isBody(place: PlaceInArguments): boolean {
  const name = place.path.findLast((part) => !/^\d+$/.test(part)) ?? '';
  if (typeof place.value !== 'string') return false;
  return place.value.length >= LONG || (place.value.length >= 15 && /body|text|message|content|note|comment|description|reason/i.test(name));
}

function withAt(args: JsonObject, path: readonly string[], value: Json): JsonObject {
  return setAt(args, path, value) as JsonObject;
}

function setAt(node: Json, path: readonly string[], value: Json): Json {
  const [head, ...rest] = path;
  if (head === undefined) return value;
  if (isList(node)) return node.map((item, at) => (String(at) === head ? setAt(item, rest, value) : item));
  return isObject(node)
    ? Object.fromEntries(Object.entries(node).map(([key, item]) => [key, key === head ? setAt(item, rest, value) : item]))
    : alteredText(String(node));
}

function freeName(id: string, taken: Set<string>): string {
  let name = id;
  for (let more = 2; taken.has(name); more++) name = `${id}:${more}`;
  taken.add(name);
  return name;
}
