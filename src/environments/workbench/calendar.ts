import { z } from 'zod';
import { defineTool } from '../define.ts';
import { cells, dateTime, given, text } from './arguments.ts';
import { PATTERN_FAILURES, queryByPattern, toPostgresPattern } from './patterns.ts';
import { append, cellsOf, comparisonOf, lockForAppend, nextId, removeById, rowById, setCell, type Cells, type OrderedTable } from './table.ts';
import type { Toolkit } from './toolkit.ts';

const EVENTS: OrderedTable = {
  name: 'calendar_events',
  id: 'event_id',
  columns: ['event_id', 'event_name', 'participant_email', 'event_start', 'duration'],
};

/** Sam's calendar. */
export const calendar: Toolkit = {
  name: 'calendar',
  schema: new URL('./schema/calendar.sql', import.meta.url),
  files: [{ file: 'calendar_events.csv', table: EVENTS.name, columns: EVENTS.columns }],
  comparison: comparisonOf(EVENTS),
  tools: () => [getEvent, searchEvents, createEvent, deleteEvent, updateEvent],
};

const getEvent = defineTool({
  name: 'calendar.get_event_information_by_id',
  description: 'Reads one field of an event.',
  input: z.strictObject({ event_id: text('Id of the event, 8 digits.'), field: text(`One of ${EVENTS.columns.map((column) => `"${column}"`).join(', ')}.`) }),
  result: z.union([cells, z.string()]),
  effect: 'read',
  async run({ event_id: id, field }, { db }) {
    if (!given(id)) return 'Event ID not provided.';
    if (!given(field)) return 'Field not provided.';
    const row = await rowById(db, EVENTS, id);
    if (!row) return 'Event not found.';
    if (EVENTS.columns.includes(field)) return { [field]: row[field] ?? null };
    const added = await db.query<{ value: string | null }>(
      `select (select e.added_columns ->> $2 from calendar_events e where e.event_id = $1 order by e.position limit 1) as value
       from calendar_events where added_columns ? $2 limit 1`,
      [id, field],
    );
    return added[0] ? { [field]: added[0].value } : 'Field not found.';
  },
});

const searchEvents = defineTool({
  name: 'calendar.search_events',
  description: 'Searches name and participant of all events by a regular expression, letter case aside. Returns the first 5 that match.',
  input: z.strictObject({
    query: text('Regular expression. Without: all events.'),
    time_min: text('Earliest start, YYYY-MM-DD HH:MM:SS, inclusive.'),
    time_max: text('Latest start, YYYY-MM-DD HH:MM:SS, inclusive.'),
  }),
  result: z.union([z.array(cells), z.string()]),
  effect: 'read',
  failures: [...PATTERN_FAILURES, 'invalid_date'],
  async run({ query, time_min: timeMin, time_max: timeMax }, { db }) {
    const rows = await queryByPattern<Cells>(
      db,
      `select ${cellsOf(EVENTS)} from calendar_events
       where (event_name ~* $1 or participant_email ~* $1)
       and ($2::text is null or event_start collate "C" >= $2)
       and ($3::text is null or event_start collate "C" <= $3)
       order by position limit 5`,
      [toPostgresPattern(query ?? ''), given(timeMin) ? dateTime(timeMin) : null, given(timeMax) ? dateTime(timeMax) : null],
    );
    return rows.length > 0 ? rows : 'No events found.';
  },
});

const createEvent = defineTool({
  name: 'calendar.create_event',
  description: 'Creates an event. Returns its id.',
  input: z.strictObject({
    event_name: text('Name of the event.'),
    participant_email: text('E-mail address of the participant.'),
    event_start: text('Start, YYYY-MM-DD HH:MM:SS.'),
    duration: text('Length in minutes.'),
  }),
  result: z.string(),
  effect: 'write',
  failures: ['id_not_a_number'],
  async run({ event_name: name, participant_email: participant, event_start: start, duration }, { db }) {
    if (!given(name)) return 'Event name not provided.';
    if (!given(participant)) return 'Participant email not provided.';
    if (!given(start)) return 'Event start not provided.';
    if (!given(duration)) return 'Event duration not provided.';
    await lockForAppend(db, EVENTS);
    const id = (await nextId(db, EVENTS)).padStart(8, '0');
    await append(db, EVENTS, { event_id: id, event_name: name, participant_email: participant.toLowerCase(), event_start: start, duration });
    return id;
  },
});

const deleteEvent = defineTool({
  name: 'calendar.delete_event',
  description: 'Deletes an event.',
  input: z.strictObject({ event_id: text('Id of the event, 8 digits.') }),
  result: z.string(),
  effect: 'write',
  async run({ event_id: id }, { db }) {
    if (!given(id)) return 'Event ID not provided.';
    return (await removeById(db, EVENTS, id)) > 0 ? 'Event deleted successfully.' : 'Event not found.';
  },
});

const updateEvent = defineTool({
  name: 'calendar.update_event',
  description: 'Sets one field of an event.',
  input: z.strictObject({
    event_id: text('Id of the event, 8 digits.'),
    field: text(`One of ${EVENTS.columns.map((column) => `"${column}"`).join(', ')}.`),
    new_value: text('New value of the field.'),
  }),
  result: z.string(),
  effect: 'write',
  async run({ event_id: id, field, new_value: value }, { db }) {
    if (!given(id) || !given(field) || !given(value)) return 'Event ID, field, or new value not provided.';
    if (!(await rowById(db, EVENTS, id))) return 'Event not found.';
    const cell = field === 'participant_email' ? value.toLowerCase() : value;
    if (EVENTS.columns.includes(field)) await setCell(db, EVENTS, id, field, cell);
    else {
      // The field's name is not checked: an unknown one becomes a new column.
      await db.query(`update calendar_events set added_columns = coalesce(added_columns, '{}') || jsonb_build_object($2::text, $3::text) where event_id = $1`, [
        id,
        field,
        cell,
      ]);
    }
    return 'Event updated successfully.';
  },
});
