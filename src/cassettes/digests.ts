import type { PermissionContext } from '../domain/case.ts';
import type { JsonObject } from '../domain/json.ts';
import type { ToolSchema } from '../environments/world.ts';
import { contentHash } from '../suite/identity.ts';

const LENGTH = 16;

/** A permission scope as a cassette keeps it. `member`: of one of a team, its own beside the case's. */
export function scopeOf(permission: PermissionContext, member: PermissionContext | null = null): JsonObject {
  return JSON.parse(JSON.stringify(member === null ? permission : { ...permission, member })) as JsonObject;
}

export function scopeDigest(permission: PermissionContext, member: PermissionContext | null = null): string {
  return contentHash(scopeOf(permission, member)).slice(0, LENGTH);
}

/** Digest of what a tool takes and of what it does. How it is described is no part of it. */
export function schemaDigest({ name, inputSchema, effect }: Pick<ToolSchema, 'name' | 'inputSchema' | 'effect'>): string {
  return contentHash({ name, inputSchema, effect }).slice(0, LENGTH);
}
