import { z } from 'zod';
import { defineTool, type Tool, type WorldSql } from '../define.ts';
import { given, orNull, text } from './arguments.ts';
import { append, cellsOf, comparisonOf, lockForAppend, type OrderedTable } from './table.ts';
import type { Toolkit } from './toolkit.ts';

const VISITS: OrderedTable = {
  name: 'analytics',
  id: 'visitor_id',
  columns: ['date_of_visit', 'visitor_id', 'page_views', 'session_duration_seconds', 'traffic_source', 'user_engaged'],
};
const PLOTS: OrderedTable = { name: 'plots', id: 'file_path', columns: ['file_path'] };

const PLOT_VALUES = [
  'total_visits',
  'session_duration_seconds',
  'user_engaged',
  'visits_direct',
  'visits_referral',
  'visits_search_engine',
  'visits_social_media',
];
const PLOT_TYPES = ['bar', 'line', 'scatter', 'histogram'];
const BAD_VALUE =
  "Value to plot must be one of 'total_visits', 'session_duration_seconds', 'user_engaged', 'direct', 'referral', 'search engine', 'social media'";
const BAD_TYPE = "Plot type must be one of 'bar', 'line', 'scatter', or 'histogram'";

/** Visits of the company's web site, which nobody can change, and the plots made of them. */
export const analytics: Toolkit = {
  name: 'analytics',
  schema: new URL('./schema/analytics.sql', import.meta.url),
  files: [{ file: 'analytics_data.csv', table: VISITS.name, columns: VISITS.columns }],
  comparison: comparisonOf(PLOTS),
  tools: () => [getVisitor, createPlot, totalVisits, engagedUsers, trafficSource, averageDuration],
};

const bounds = {
  time_min: text('First day, YYYY-MM-DD, inclusive.'),
  time_max: text('Last day, YYYY-MM-DD, inclusive.'),
};

const getVisitor = defineTool({
  name: 'analytics.get_visitor_information_by_id',
  description: 'Lists all visits of a visitor.',
  input: z.strictObject({ visitor_id: text('Id of the visitor, 4 digits.') }),
  result: z.union([z.array(z.record(z.string(), z.union([z.string(), z.boolean(), z.null()]))), z.string()]),
  effect: 'read',
  async run({ visitor_id: id }, { db }) {
    if (!given(id)) return 'Visitor ID not provided.';
    const rows = await db.query<{ [column: string]: string | boolean | null }>(
      `select ${cellsOf(VISITS)} from analytics where visitor_id = $1 order by position`,
      [id],
    );
    return rows.length > 0 ? rows : 'Visitor not found.';
  },
});

const createPlot = defineTool({
  name: 'analytics.create_plot',
  description: 'Plots a value over a range of days. Returns the path of the image.',
  input: z.strictObject({
    ...bounds,
    value_to_plot: text(`One of ${PLOT_VALUES.join(', ')}.`),
    plot_type: text(`One of ${PLOT_TYPES.join(', ')}.`),
  }),
  result: z.string(),
  effect: 'write',
  async run({ time_min: timeMin, time_max: timeMax, value_to_plot: value, plot_type: type }, { db }) {
    if (!given(timeMin)) return 'Start date not provided.';
    if (!given(timeMax)) return 'End date not provided.';
    if (!given(value) || !PLOT_VALUES.includes(value)) return BAD_VALUE;
    if (!given(type) || !PLOT_TYPES.includes(type)) return BAD_TYPE;
    const path = `plots/${timeMin}_${timeMax}_${value}_${type}.png`;
    await lockForAppend(db, PLOTS);
    await append(db, PLOTS, { file_path: path });
    return path;
  },
});

const totalVisits = perDay('total_visits_count', 'Counts visits per day.', {}, (days) => mapDays(days, (day) => day.visits));

const engagedUsers = perDay('engaged_users_count', 'Counts visits of engaged users per day.', {}, (days) => mapDays(days, (day) => day.engaged));

const trafficSource = perDay(
  'traffic_source_count',
  'Counts visits from a traffic source per day.',
  { traffic_source: text('One of direct, referral, search engine, social media. Without: all.') },
  (days, source) => mapDays(days, (day) => (source === null ? day.visits : day.fromSource)),
);

const averageDuration = perDay('get_average_session_duration', 'Mean session duration per day, in seconds.', {}, (days) =>
  mapDays(days, (day) => day.seconds / day.visits),
);

interface Day extends Readonly<Record<string, string | number>> {
  readonly date: string;
  readonly visits: number;
  readonly engaged: number;
  readonly fromSource: number;
  readonly seconds: number;
}

/** A tool that says one number for every day of the range with at least one visit, in order of days. */
function perDay(
  name: string,
  description: string,
  more: { readonly traffic_source?: ReturnType<typeof text> },
  show: (days: readonly Day[], source: string | null) => Record<string, number>,
): Tool {
  return defineTool({
    name: `analytics.${name}`,
    description,
    input: z.strictObject({ ...bounds, ...more }),
    result: z.record(z.string(), z.number()),
    effect: 'read',
    async run(args, { db }) {
      const { time_min: timeMin, time_max: timeMax, traffic_source: source } = args as { readonly [argument: string]: string | null | undefined };
      return show(await daysOf(db, orNull(timeMin), orNull(timeMax), orNull(source)), orNull(source));
    },
  });
}

async function daysOf(db: WorldSql, timeMin: string | null, timeMax: string | null, source: string | null): Promise<Day[]> {
  return db.query<Day>(
    `select date_of_visit as date, count(*)::int as visits, count(*) filter (where user_engaged)::int as engaged,
       count(*) filter (where traffic_source = $3)::int as "fromSource", sum(session_duration_seconds::float8) as seconds
     from analytics
     where ($1::text is null or date_of_visit collate "C" >= $1) and ($2::text is null or date_of_visit collate "C" <= $2)
     group by date_of_visit order by date_of_visit collate "C"`,
    [timeMin, timeMax, source],
  );
}

function mapDays(days: readonly Day[], value: (day: Day) => number): Record<string, number> {
  return Object.fromEntries(days.map((day) => [day.date, value(day)]));
}
