import type { z } from 'zod';
import type { Json, JsonObject } from '../domain/json.ts';
import { nearestName } from '../domain/text/nearest.ts';
import type { Tool } from '../environments/define.ts';
import { schemaProblems, unknownName } from './issues.ts';
import { namesIn, parseText, resolveArguments } from './script.ts';
import type { FileProblem } from './suite.ts';
import type { Path, YamlFile } from './yaml-file.ts';

/** What the checks need to know of a tool. */
export type CheckedTool = Pick<Tool, 'name' | 'input' | 'idempotent' | 'builtin'>;

/**
 * Arguments of a call in a file against the tool's schema, as the door checks them. What a reference such as `${order.total}` will be is not known
 * here, so it counts as right; names of arguments, missing ones and all values beside it are checked nevertheless.
 */
export function argumentProblems(source: YamlFile, at: Path, tool: CheckedTool, args: JsonObject): readonly FileProblem[] {
  const { idempotency_key: key, ...rest } = args;
  // The door takes the key out of the arguments of tools that have one.
  return new ArgumentCheck(source, tool.name).problems(tool.input, at, tool.idempotent === true && key !== undefined ? rest : args);
}

/** Names of a tool's arguments; null where its schema does not list them all. */
export function argumentNames({ input }: CheckedTool): readonly string[] | null {
  const schema = bare(input);
  return isObjectSchema(schema) && !isOpen(schema) ? Object.keys(schema._zod.def.shape) : null;
}

class ArgumentCheck {
  readonly #source: YamlFile;
  readonly #tool: string;

  constructor(source: YamlFile, tool: string) {
    this.#source = source;
    this.#tool = tool;
  }

  problems(schema: Schema, at: Path, value: Json): readonly FileProblem[] {
    const inside = this.#inside(bare(schema), at, value);
    // Rules over a whole value are asked once its parts are right, as zod does, and only where all of them are known.
    if (inside !== null && (inside.length > 0 || holdsReference(value))) return inside;
    if (holdsReference(value)) return this.#ofReference(schema, at, value);
    return schemaProblems(schema as z.ZodType, this.#source, at, resolveArguments(value, {}));
  }

  /** Of the members of an object, list or record; null for what has none or is of another type than the schema. */
  #inside(schema: Schema, at: Path, value: Json): readonly FileProblem[] | null {
    if (isList(value)) return isArraySchema(schema) ? value.flatMap((item, index) => this.problems(schema._zod.def.element, [...at, index], item)) : null;
    if (value === null || typeof value !== 'object') return null;
    if (isRecordSchema(schema)) return Object.entries(value).flatMap(([key, item]) => this.problems(schema._zod.def.valueType, [...at, key], item));
    return isObjectSchema(schema) ? this.#members(schema, at, value as JsonObject) : null;
  }

  #members(schema: ObjectSchema, at: Path, value: JsonObject): readonly FileProblem[] {
    const { shape } = schema._zod.def;
    const known = Object.keys(shape);
    const unknown = isOpen(schema) ? [] : Object.keys(value).filter((name) => !Object.hasOwn(shape, name));
    // A name that is misspelt is one mistake, not an unknown one and a missing one.
    const meant = new Set(unknown.map((name) => nearestName(name, known)));
    return [
      ...unknown.map((name) => unknownName(this.#source, [...at, name], `argument of ${this.#tool}`, name, known)),
      ...Object.entries(shape).flatMap(([name, member]) => {
        const item = value[name];
        if (item !== undefined) return this.problems(member, [...at, name], item);
        return meant.has(name) ? [] : schemaProblems(member as z.ZodType, this.#source, [...at, name], undefined);
      }),
    ];
  }

  /** A text with a reference in it is a text, and one that is a step's state too; all else is known only when it is there. */
  #ofReference(schema: Schema, at: Path, value: Json): readonly FileProblem[] {
    if (typeof value !== 'string' || !isTextOnly(value)) return [];
    const problems = (schema as z.ZodType).safeParse(value).error?.issues ?? [];
    const wrongType = problems.some((issue) => issue.code === 'invalid_type' && issue.path.length === 0);
    return wrongType ? schemaProblems(schema as z.ZodType, this.#source, at, value) : [];
  }
}

type Schema = z.core.$ZodType;
type ObjectSchema = z.core.$ZodObject;

function isObjectSchema(schema: Schema): schema is ObjectSchema {
  return schema._zod.def.type === 'object';
}

function isArraySchema(schema: Schema): schema is z.core.$ZodArray {
  return schema._zod.def.type === 'array';
}

function isRecordSchema(schema: Schema): schema is z.core.$ZodRecord {
  return schema._zod.def.type === 'record';
}

/** Whether an object takes members beside those that it lists. */
function isOpen(schema: ObjectSchema): boolean {
  const { catchall } = schema._zod.def;
  return catchall !== undefined && catchall._zod.def.type !== 'never';
}

/** A schema without what only says that a value may be absent, or what becomes of it afterwards. */
function bare(schema: Schema): Schema {
  const def = schema._zod.def as { readonly type: string; readonly innerType?: Schema; readonly in?: Schema; readonly getter?: () => Schema };
  if (def.type === 'pipe' && def.in !== undefined && def.in._zod.def.type !== 'transform') return bare(def.in);
  if (def.type === 'lazy' && def.getter !== undefined) return bare(def.getter());
  return def.innerType === undefined ? schema : bare(def.innerType);
}

function holdsReference(value: Json): boolean {
  return namesIn(value).size > 0;
}

function isTextOnly(text: string): boolean {
  const parts = parseText(text);
  const [only] = parts;
  return parts.length > 1 || (only !== undefined && typeof only !== 'string' && only.from === 'state');
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
