import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { TemporalEndpoint } from '../worker/config.ts';

/** Search attributes that our workflows set, all of type Keyword. */
export const SEARCH_ATTRIBUTES = ['TrialbedBatch', 'TrialbedCase', 'TrialbedAgent', 'TrialbedEnding'] as const;

/** Temporal cannot be used as it is configured. */
export class TemporalUnreachableError extends Error {
  override readonly name = 'TemporalUnreachableError';
  readonly code = 'temporal_unreachable';
  readonly address: string;

  constructor(address: string, reason: string) {
    super(`the Temporal server at ${address} cannot be used: ${reason}`);
    this.address = address;
  }
}

/** The namespace lacks our search attributes, and we may not make them. */
export class SearchAttributesError extends Error {
  override readonly name = 'SearchAttributesError';
  readonly code = 'search_attributes';
  readonly namespace: string;

  constructor(namespace: string, reason: string) {
    const commands = SEARCH_ATTRIBUTES.map((name) => `  temporal operator search-attribute create --namespace ${namespace} --name ${name} --type Keyword`);
    super(`the namespace ${namespace} lacks search attributes, and they could not be made: ${reason}; have somebody who may do so run\n${commands.join('\n')}`);
    this.namespace = namespace;
  }
}

const GRPC_INVALID_ARGUMENT = 3;
const GRPC_DEADLINE_EXCEEDED = 4;
const GRPC_NOT_FOUND = 5;
const GRPC_ALREADY_EXISTS = 6;
const GRPC_UNAVAILABLE = 14;

/**
 * Waits until the namespace answers, at most `patienceMs`, and makes the search attributes that it lacks. May be called by many at
 * once, and again. Whether an attribute is there is asked by a query that uses it, since clouds let nobody list attributes.
 *
 * @throws {TemporalUnreachableError}
 * @throws {SearchAttributesError}
 */
export async function prepareTemporal(endpoint: TemporalEndpoint, patienceMs = 30_000): Promise<void> {
  const { address, namespace, apiKey, tls } = endpoint;
  const deadline = Date.now() + patienceMs;
  const connection = Connection.lazy({ address, ...(apiKey === undefined ? {} : { apiKey }), ...(tls === undefined ? {} : { tls }) });
  try {
    const missing = await retry(deadline, () => lacksAttributes(connection, namespace), address);
    if (!missing) return;
    try {
      const { INDEXED_VALUE_TYPE_KEYWORD: keyword } = proto.temporal.api.enums.v1.IndexedValueType;
      const searchAttributes = Object.fromEntries(SEARCH_ATTRIBUTES.map((name) => [name, keyword]));
      await connection.withDeadline(deadline, () => connection.operatorService.addSearchAttributes({ namespace, searchAttributes }));
    } catch (error) {
      if (grpcCode(error) !== GRPC_ALREADY_EXISTS) throw new SearchAttributesError(namespace, detail(error));
    }
    // A server takes some seconds until all its parts know a new attribute.
    while (await retry(deadline, () => lacksAttributes(connection, namespace), address)) {
      if (Date.now() > deadline) throw new SearchAttributesError(namespace, 'they were made, but queries do not know them yet');
      await sleep(100);
    }
  } finally {
    await connection.close();
  }
}

/** Version of the server. @throws {TemporalUnreachableError} */
export async function temporalVersion(endpoint: TemporalEndpoint): Promise<string> {
  const { address, apiKey, tls } = endpoint;
  const connection = Connection.lazy({ address, ...(apiKey === undefined ? {} : { apiKey }), ...(tls === undefined ? {} : { tls }) });
  try {
    const info = await connection.withDeadline(Date.now() + 5_000, () => connection.workflowService.getSystemInfo({}));
    return info.serverVersion ?? 'unknown';
  } catch (error) {
    throw new TemporalUnreachableError(address, detail(error));
  } finally {
    await connection.close();
  }
}

async function lacksAttributes(connection: Connection, namespace: string): Promise<boolean> {
  const query = SEARCH_ATTRIBUTES.map((name) => `${name} = '-'`).join(' AND ');
  try {
    await connection.withDeadline(Date.now() + 10_000, () => connection.workflowService.listWorkflowExecutions({ namespace, pageSize: 1, query }));
    return false;
  } catch (error) {
    if (grpcCode(error) === GRPC_INVALID_ARGUMENT) return true;
    throw error;
  }
}

/** Tries again while the server is unavailable or has not made its namespace yet. */
async function retry<T>(deadline: number, attempt: () => Promise<T>, address: string): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const code = grpcCode(error);
      const passing = code === GRPC_UNAVAILABLE || code === GRPC_DEADLINE_EXCEEDED || code === GRPC_NOT_FOUND;
      if (!passing || Date.now() > deadline) throw new TemporalUnreachableError(address, detail(error));
      await sleep(100);
    }
  }
}

function grpcCode(error: unknown): number | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'number' ? error.code : null;
}

function detail(error: unknown): string {
  const code = grpcCode(error);
  // The transport's own words tell of its insides.
  if (code === GRPC_UNAVAILABLE || code === GRPC_DEADLINE_EXCEEDED) return 'it does not answer';
  if (error instanceof Error && 'details' in error && typeof error.details === 'string' && error.details !== '') return error.details;
  return error instanceof Error ? error.message : String(error);
}
