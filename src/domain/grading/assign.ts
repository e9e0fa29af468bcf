/** A pattern's room: how many effects it needs and how many it takes. */
export interface Room {
  readonly min: number;
  readonly max: number;
}

/**
 * Assigns items to rooms that they fit, so that as many needed places as possible are filled and, given that, as many items as possible find a room.
 * A matching by augmenting paths: neither the order of items nor that of rooms decides how many are left over.
 *
 * @returns per item the index of its room, or null.
 */
export function assign(items: number, rooms: readonly Room[], fits: (item: number, room: number) => boolean): (number | null)[] {
  const roomsOf = Array.from({ length: items }, (_, item) => rooms.flatMap((_room, room) => (fits(item, room) ? [room] : [])));
  const state: State = { roomOf: new Array<number | null>(items).fill(null), held: rooms.map(() => new Set<number>()), roomsOf };
  const needed = rooms.map((room) => Math.min(room.min, room.max));
  const taken = rooms.map((room) => room.max);
  for (const capacity of [needed, taken]) {
    for (let item = 0; item < items; item++) {
      if (state.roomOf[item] === null) place(item, capacity, state, new Set());
    }
  }
  return state.roomOf;
}

interface State {
  readonly roomOf: (number | null)[];
  readonly held: readonly Set<number>[];
  readonly roomsOf: readonly (readonly number[])[];
}

function place(item: number, capacity: readonly number[], state: State, seen: Set<number>): boolean {
  const candidates = state.roomsOf[item] ?? [];
  for (const room of candidates) {
    if (!seen.has(room) && (state.held[room]?.size ?? 0) < (capacity[room] ?? 0)) {
      move(item, room, state);
      return true;
    }
  }
  for (const room of candidates) {
    if (seen.has(room)) continue;
    seen.add(room);
    for (const other of state.held[room] ?? []) {
      if (place(other, capacity, state, seen)) {
        move(item, room, state);
        return true;
      }
    }
  }
  return false;
}

function move(item: number, room: number, state: State): void {
  const from = state.roomOf[item];
  if (from !== null && from !== undefined) state.held[from]?.delete(item);
  state.held[room]?.add(item);
  state.roomOf[item] = room;
}
