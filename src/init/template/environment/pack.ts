import { defineEnvironment, defineTool, ToolFailure } from 'trialbed/environment';
import { z } from 'zod';

const date = z.iso.date();
const time = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'a time such as 09:30');

/** A read: it changes nothing, and is not shown in a trial's effects. */
const findRooms = defineTool({
  name: 'find_rooms',
  description: 'Rooms with at least so many seats that are free at that time, smallest first. Times are local.',
  input: z.strictObject({ seats: z.int().min(1), date, from: time, to: time }),
  result: z.array(z.object({ id: z.int(), name: z.string(), seats: z.int() })),
  effect: 'read',
  async run({ seats, date, from, to }, { db, timezone }) {
    return await db.query<{ id: number; name: string; seats: number }>(
      `select id, name, seats from rooms
        where seats >= $1
          and not exists (select 1 from bookings b where b.room_id = rooms.id
            and b.starts_at < ($2::date + $4::time) at time zone $5 and b.ends_at > ($2::date + $3::time) at time zone $5)
        order by seats, id`,
      [seats, date, from, to, timezone],
    );
  },
});

/** A write: its rows commit together with the record of the call, or not at all. */
const bookRoom = defineTool({
  name: 'book_room',
  description: 'Books a room for the user. Times are local.',
  input: z.strictObject({ room_id: z.int(), date, from: time, to: time }),
  result: z.object({ booking_id: z.int() }),
  effect: 'write',
  // The tool knows that nothing happened when it ends with one of these; any other error would leave the outcome unknown.
  failures: ['taken', 'not_found'],
  async run({ room_id, date, from, to }, { db, timezone, permission }) {
    const rooms = await db.query('select id from rooms where id = $1', [room_id]);
    if (rooms.length === 0) throw new ToolFailure('not_found', `There is no room ${room_id}.`);
    const taken = await db.query(
      `select id from bookings where room_id = $1
        and starts_at < ($2::date + $4::time) at time zone $5 and ends_at > ($2::date + $3::time) at time zone $5`,
      [room_id, date, from, to, timezone],
    );
    if (taken.length > 0) throw new ToolFailure('taken', `Room ${room_id} is taken at that time.`);
    const [booked] = await db.query<{ id: number }>(
      `insert into bookings (room_id, starts_at, ends_at, booked_by)
        values ($1, ($2::date + $3::time) at time zone $5, ($2::date + $4::time) at time zone $5, $6) returning id`,
      [room_id, date, from, to, timezone, permission.user],
    );
    if (!booked) throw new Error('the insert returned no row');
    return { booking_id: booked.id };
  },
});

const cancelBooking = defineTool({
  name: 'cancel_booking',
  description: "Cancels one of the user's own bookings.",
  input: z.strictObject({ booking_id: z.int() }),
  result: z.object({ cancelled: z.int() }),
  effect: 'write',
  failures: ['not_found'],
  async run({ booking_id }, { db, permission }) {
    const gone = await db.query<{ id: number }>('delete from bookings where id = $1 and booked_by = $2 returning id', [booking_id, permission.user]);
    if (gone.length === 0) throw new ToolFailure('not_found', `${permission.user} has no booking ${booking_id}.`);
    return { cancelled: booking_id };
  },
});

/** The environment: everything that makes a world, and the tools that act on it. A change of any of it is a new generation. */
export default defineEnvironment({
  name: 'meeting-rooms',
  version: '1.0.0',
  schema: [new URL('./schema.sql', import.meta.url)],
  seed: [
    { csv: new URL('./rooms.csv', import.meta.url), table: 'rooms' },
    { csv: new URL('./bookings.csv', import.meta.url), table: 'bookings' },
  ],
  policy: new URL('./policy.md', import.meta.url),
  permissions: { roles: { member: { tools: '*' } } },
  tools: [findRooms, bookRoom, cancelBooking],
});
