import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Cassette } from '../domain/cassette.ts';
import type { Json } from '../domain/json.ts';
import { makeFolder } from '../infra/make-folder.ts';
import { MAX_CASSETTE_BYTES } from '../suite/cassette-file.ts';
import { type Difference, differences } from './differences.ts';
import { NotRecordableError } from './record-cassette.ts';
import { Redactor } from './redactor.ts';

/** What a new recording is against the file that is there. */
export interface CassetteChange {
  readonly state: 'new' | 'changed' | 'same';
  /** None where it is new. */
  readonly differences: readonly Difference[];
}

/** Compares a recording with the file in its place. A file that cannot be read counts as another recording. */
export async function changeOf(file: string, cassette: Cassette): Promise<CassetteChange> {
  const before = await readFile(file, 'utf8').catch((error: unknown) => {
    if ((error as { code?: unknown }).code === 'ENOENT') return null;
    throw error;
  });
  if (before === null) return { state: 'new', differences: [] };
  const text = textOf(cassette);
  if (before === text) return { state: 'same', differences: [] };
  return { state: 'changed', differences: differences(jsonOf(before), JSON.parse(text) as Json) };
}

/**
 * Writes a cassette's file, whole or not at all.
 *
 * @throws {NotRecordableError} where something in it still looks like a secret, or it is too large to be read again
 */
export async function writeCassette(file: string, cassette: Cassette): Promise<void> {
  const text = textOf(cassette);
  const left = secretsIn(text);
  if (left.length > 0) throw new NotRecordableError(`after redaction it still holds what looks like a ${left.join(' and a ')}; nothing was written`);
  if (Buffer.byteLength(text) > MAX_CASSETTE_BYTES)
    throw new NotRecordableError(`it would have ${Buffer.byteLength(text)} bytes, and at most ${MAX_CASSETTE_BYTES} are read; nothing was written`);
  await makeFolder(dirname(file));
  const beside = `${file}.${process.pid}.new`;
  try {
    await writeFile(beside, text, { flag: 'wx' });
    await rename(beside, file);
  } finally {
    await rm(beside, { force: true });
  }
}

/** Kinds of secrets that a text holds by their shape: keys, tokens, passwords, numbers of cards and accounts, also within JSON, base64 and other encodings. */
export function secretsIn(text: string): readonly string[] {
  const redactor = new Redactor({ secretsOnly: true });
  redactor.text(text);
  return Object.keys(redactor.counts).sort();
}

function textOf(cassette: Cassette): string {
  return `${JSON.stringify(cassette, null, 2)}\n`;
}

function jsonOf(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
