import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Json, JsonObject } from '../../src/domain/json.ts';
import { ToolFailure } from '../../src/environments/define.ts';
import { DATASETS, requireOrSkip, skipTitle } from '../harness/requirements.ts';
import { type Bench, type OfficeWorld, openBench } from './workbench-world.ts';

const datasets = await requireOrSkip('datasets');
const data = join(DATASETS, 'workbench');

describe.skipIf(!datasets.met)(skipTitle('tools of the office world', datasets), () => {
  let bench: Bench;

  beforeAll(async () => {
    bench = await openBench(inject('services').postgresUrl, { data });
  });

  afterAll(async () => {
    await bench?.[Symbol.asyncDispose]();
  });

  it('are 27, of which 14 write', () => {
    expect(bench.tools).toHaveLength(27);
    expect(bench.tools.filter((tool) => tool.effect === 'write')).toHaveLength(14);
    expect(bench.tools.filter((tool) => tool.effect === 'external')).toEqual([]);
  });

  describe('reply', () => {
    let world: OfficeWorld;

    beforeAll(async () => {
      world = await bench.open();
    });

    afterAll(async () => {
      expect(await world.effects(), 'none of these calls changes a row').toEqual([]);
      await world[Symbol.asyncDispose]();
    });

    const long = { recipient: 'a@b.c', subject: 's', body: 'b' };
    const task = { task_name: 'n', assigned_to_email: 'Carlos.Rodriguez@atlas.com', list_name: 'Backlog', due_date: '2023-12-01', board: 'Design' };
    const plot = { time_min: '2023-10-01', time_max: '2023-11-01', value_to_plot: 'total_visits', plot_type: 'bar' };
    const team = 'Assignee email not valid. Please choose from the list of team members.';
    const list = "List not valid. Please choose from: 'Backlog', 'In Progress', 'In Review', 'Completed'.";
    const board = "Board not valid. Please choose from: 'Back end', 'Front end', 'Design'.";

    it.each<[string, JsonObject, Json]>([
      ['company_directory.find_email_address', {}, 'Name not provided.'],
      ['company_directory.find_email_address', { name: '' }, 'Name not provided.'],
      ['company_directory.find_email_address', { name: 'Nadia' }, ['nadia.moreau@atlas.com']],
      ['company_directory.find_email_address', { name: 'Lena Schmidt' }, []],
      [
        'company_directory.find_email_address',
        { name: '^a[a-z]+\\.' },
        ['aisha.chen@atlas.com', 'anaya.patel@atlas.com', 'amir.ali@atlas.com', 'akira.sato@atlas.com'],
      ],

      ['email.get_email_information_by_id', { field: 'body' }, 'Email ID not provided.'],
      ['email.get_email_information_by_id', { email_id: '00000373', field: null }, 'Field not provided.'],
      ['email.get_email_information_by_id', { email_id: '373', field: 'sender' }, 'Email not found.'],
      ['email.get_email_information_by_id', { email_id: '00000373', field: 'sender' }, 'Field not found.'],
      ['email.get_email_information_by_id', { email_id: '00000373', field: 'position' }, 'Field not found.'],
      ['email.get_email_information_by_id', { email_id: '00000373', field: 'sender/recipient' }, { 'sender/recipient': 'santiago.martinez@atlas.com' }],
      ['email.search_emails', { query: 'no such word anywhere' }, 'No emails found.'],
      ['email.send_email', { recipient: 'a@b.c', subject: 's' }, 'Recipient, subject, or body not provided.'],
      ['email.send_email', { ...long, body: '' }, 'Recipient, subject, or body not provided.'],
      ['email.send_email', { ...long, recipient: 'a@b' }, 'Invalid recipient email address.'],
      ['email.send_email', { ...long, recipient: 'a.b' }, 'Invalid recipient email address.'],
      ['email.delete_email', {}, 'Email ID not provided.'],
      ['email.delete_email', { email_id: '1' }, 'Email not found.'],
      ['email.forward_email', { email_id: '1' }, 'Email ID or recipient not provided.'],
      ['email.forward_email', { email_id: '1', recipient: 'x' }, 'Email not found.'],
      ['email.forward_email', { email_id: '00000373', recipient: 'x' }, 'Invalid recipient email address.'],
      ['email.reply_email', { email_id: '1' }, 'Email ID or body not provided.'],
      ['email.reply_email', { email_id: '1', body: 'b' }, 'Email not found.'],

      ['calendar.get_event_information_by_id', { field: 'duration' }, 'Event ID not provided.'],
      ['calendar.get_event_information_by_id', { event_id: '13', field: 'duration' }, 'Event not found.'],
      ['calendar.get_event_information_by_id', { event_id: '00000013', field: 'length' }, 'Field not found.'],
      ['calendar.get_event_information_by_id', { event_id: '00000013', field: 'duration' }, { duration: '90' }],
      ['calendar.search_events', { query: 'no such event' }, 'No events found.'],
      ['calendar.create_event', {}, 'Event name not provided.'],
      ['calendar.create_event', { event_name: 'n' }, 'Participant email not provided.'],
      ['calendar.create_event', { event_name: 'n', participant_email: 'p' }, 'Event start not provided.'],
      ['calendar.create_event', { event_name: 'n', participant_email: 'p', event_start: 's' }, 'Event duration not provided.'],
      ['calendar.delete_event', {}, 'Event ID not provided.'],
      ['calendar.delete_event', { event_id: '13' }, 'Event not found.'],
      ['calendar.update_event', { event_id: '00000013', field: 'duration' }, 'Event ID, field, or new value not provided.'],
      ['calendar.update_event', { event_id: '13', field: 'duration', new_value: '30' }, 'Event not found.'],

      ['analytics.total_visits_count', { time_min: '2023-11-28' }, { '2023-11-28': 19, '2023-11-29': 10 }],
      ['analytics.engaged_users_count', { time_min: '2023-11-28' }, { '2023-11-28': 8, '2023-11-29': 5 }],
      ['analytics.traffic_source_count', { time_min: '2023-11-28', traffic_source: 'direct' }, { '2023-11-28': 12, '2023-11-29': 5 }],
      ['analytics.traffic_source_count', { time_min: '2023-11-28', traffic_source: 'Direct' }, { '2023-11-28': 0, '2023-11-29': 0 }],
      ['analytics.traffic_source_count', { time_min: '2023-11-28' }, { '2023-11-28': 19, '2023-11-29': 10 }],
      ['analytics.get_average_session_duration', { time_min: '2023-11-28' }, { '2023-11-28': 20.31578947368421, '2023-11-29': 20.5 }],
      ['analytics.total_visits_count', { time_max: '2023-08-31' }, {}],
      ['analytics.get_visitor_information_by_id', {}, 'Visitor ID not provided.'],
      ['analytics.get_visitor_information_by_id', { visitor_id: '860' }, 'Visitor not found.'],
      ['analytics.create_plot', { ...plot, time_min: '' }, 'Start date not provided.'],
      ['analytics.create_plot', { ...plot, time_max: null }, 'End date not provided.'],
      [
        'analytics.create_plot',
        { ...plot, value_to_plot: 'direct' },
        "Value to plot must be one of 'total_visits', 'session_duration_seconds', 'user_engaged', 'direct', 'referral', 'search engine', 'social media'",
      ],
      ['analytics.create_plot', { ...plot, plot_type: 'pie' }, "Plot type must be one of 'bar', 'line', 'scatter', or 'histogram'"],

      ['project_management.get_task_information_by_id', {}, 'Task ID not provided.'],
      ['project_management.get_task_information_by_id', { task_id: '00000149' }, 'Field not provided.'],
      ['project_management.get_task_information_by_id', { task_id: '149', field: 'x' }, 'Task not found.'],
      ['project_management.get_task_information_by_id', { task_id: '00000149', field: 'x' }, 'Field not found.'],
      ['project_management.get_task_information_by_id', { task_id: '00000149', field: 'board' }, { board: 'Front end' }],
      ['project_management.search_tasks', { board: '' }, 'No search parameters provided.'],
      ['project_management.search_tasks', { task_name: 'no such task' }, []],
      ['project_management.create_task', { ...task, board: '' }, 'Missing task details.'],
      ['project_management.create_task', { ...task, assigned_to_email: 'lena.schmidt@atlas.com', list_name: 'x' }, team],
      ['project_management.create_task', { ...task, list_name: 'backlog', board: 'x' }, list],
      ['project_management.create_task', { ...task, board: 'design' }, board],
      ['project_management.delete_task', {}, 'Task ID not provided.'],
      ['project_management.delete_task', { task_id: '149' }, 'Task not found.'],
      ['project_management.update_task', { task_id: '149', field: 'board' }, 'Task ID, field, or new value not provided.'],
      ['project_management.update_task', { task_id: '149', field: 'board', new_value: 'x' }, board],
      ['project_management.update_task', { task_id: '149', field: 'list_name', new_value: 'x' }, list],
      ['project_management.update_task', { task_id: '149', field: 'assigned_to_email', new_value: 'lena.schmidt@atlas.com' }, team],
      ['project_management.update_task', { task_id: '149', field: 'colour', new_value: 'x' }, 'Task not found.'],
      ['project_management.update_task', { task_id: '00000149', field: 'colour', new_value: 'x' }, 'Field not valid.'],
      ['project_management.update_task', { task_id: '00000149', field: 'position', new_value: '1' }, 'Field not valid.'],

      ['customer_relationship_manager.search_customers', {}, 'No search parameters provided. Please provide at least one parameter.'],
      ['customer_relationship_manager.search_customers', { customer_name: 'nobody' }, []],
      ['customer_relationship_manager.update_customer', { customer_id: '1' }, 'Customer ID, field, or new value not provided.'],
      [
        'customer_relationship_manager.update_customer',
        { customer_id: '1', field: 'status', new_value: 'won' },
        "Status not valid. Please choose from: 'Qualified', 'Won', 'Lost', 'Lead', 'Proposal'",
      ],
      [
        'customer_relationship_manager.update_customer',
        { customer_id: '1', field: 'product_interest', new_value: 'software' },
        "Product interest not valid. Please choose from: 'Software', 'Hardware', 'Services', 'Consulting', 'Training'",
      ],
      ['customer_relationship_manager.update_customer', { customer_id: '1', field: 'x', new_value: 'y' }, 'Customer not found.'],
      [
        'customer_relationship_manager.update_customer',
        { customer_id: '00000189', field: 'x', new_value: 'y' },
        "Field not valid. Please choose from: 'customer_name', 'assigned_to_email', 'customer_email', 'customer_phone', 'last_contact_date', 'product_interest', 'status', 'notes', 'follow_up_by'",
      ],
      [
        'customer_relationship_manager.add_customer',
        { customer_name: 'n', assigned_to_email: 'a' },
        'Please provide all required fields: customer_name, assigned_to_email, status.',
      ],
      ['customer_relationship_manager.delete_customer', {}, 'Customer ID not provided.'],
      ['customer_relationship_manager.delete_customer', { customer_id: '189' }, 'Customer not found.'],
    ])('%s %j', async (tool, args, reply) => {
      expect(await world.call(tool, args)).toEqual(reply);
    });

    it('searches mails by words, newest first, by day, five at most', async () => {
      const found = (await world.call('email.search_emails', { query: 'NADIA moreau', date_max: '2023-11-01' })) as JsonObject[];
      expect(found).toHaveLength(5);
      expect(found[0]).toMatchObject({ email_id: '00000167', sent_datetime: '2023-11-01 12:08:12' });
      expect(Object.keys(found[0] ?? {})).toEqual(['email_id', 'inbox/outbox', 'sender/recipient', 'subject', 'sent_datetime', 'body']);
      const day = (await world.call('email.search_emails', { date_min: '2023-10-01 23:59:59', date_max: '2023-10-01' })) as JsonObject[];
      expect(day.map((mail) => String(mail.sent_datetime).slice(0, 10))).toEqual(day.map(() => '2023-10-01'));
    });

    it('searches events and tasks by pattern, in row order', async () => {
      const events = (await world.call('calendar.search_events', { query: 'SYNC' })) as JsonObject[];
      expect(events).toHaveLength(5);
      expect(events.slice(0, 3).map((event) => event.event_id)).toEqual(['00000013', '00000079', '00000150']);
      const bounded = (await world.call('calendar.search_events', { time_min: '2023-11-29 10:00:00', time_max: '2023-11-30' })) as JsonObject[];
      expect(bounded.every((event) => String(event.event_start) >= '2023-11-29 10:00:00' && String(event.event_start) <= '2023-11-30 00:00:00')).toBe(true);
      const tasks = (await world.call('project_management.search_tasks', { board: '^front', list_name: 'in (progress|review)$' })) as JsonObject[];
      expect(tasks.length).toBeGreaterThan(5);
      expect(tasks.every((task) => task.board === 'Front end' && ['In Progress', 'In Review'].includes(String(task.list_name)))).toBe(true);
    });

    it('searches customers by pattern and by date, five at most, nulls never', async () => {
      const found = (await world.call('customer_relationship_manager.search_customers', {
        status: 'won|lost',
        last_contact_date_max: '2023-11-20',
      })) as JsonObject[];
      expect(found).toHaveLength(5);
      expect(found.every((customer) => ['Won', 'Lost'].includes(String(customer.status)) && String(customer.last_contact_date) <= '2023-11-20')).toBe(true);
      expect(found.some((customer) => customer.customer_phone === null)).toBe(true);
    });

    it('lists all visits of a visitor, with engagement as a truth value', async () => {
      const visits = (await world.call('analytics.get_visitor_information_by_id', { visitor_id: '0860' })) as JsonObject[];
      expect(visits[0]).toEqual({
        date_of_visit: '2023-10-22',
        visitor_id: '0860',
        page_views: '8',
        session_duration_seconds: '4',
        traffic_source: 'referral',
        user_engaged: false,
      });
    });

    it.each([
      ['project_management.search_tasks', { task_name: '(' }, 'invalid_pattern'],
      ['project_management.search_tasks', { task_name: '***=x' }, 'invalid_pattern'],
      ['calendar.search_events', { query: '*' }, 'invalid_pattern'],
      ['company_directory.find_email_address', { name: '[' }, 'invalid_pattern'],
      ['customer_relationship_manager.search_customers', { customer_name: '(?' }, 'invalid_pattern'],
      ['email.search_emails', { date_min: 'previous friday' }, 'invalid_date'],
      ['calendar.search_events', { time_max: '2023-02-30' }, 'invalid_date'],
    ])('%s %j fails definitely', async (tool, args, code) => {
      const failure = await world.call(tool, args).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(ToolFailure);
      expect((failure as ToolFailure).code).toBe(code);
      expect(bench.tools.find((candidate) => candidate.name === tool)?.failures).toContain(code);
    });

    it('ends a pattern that takes too long or too much, without harm to the world', async () => {
      const slow = world.call('project_management.search_tasks', { task_name: '(.+)(.+)(.+)(.+)(.+)\\5\\4\\3\\2\\1' });
      await expect(slow).rejects.toMatchObject({ name: 'ToolFailure', code: 'pattern_too_slow' });
      const huge = world.call('project_management.search_tasks', { task_name: '(((.{1,250}){1,250}){1,250})' });
      await expect(huge).rejects.toMatchObject({ name: 'ToolFailure', code: 'invalid_pattern' });
      expect(await world.call('company_directory.find_email_address', { name: 'Nadia' })).toEqual(['nadia.moreau@atlas.com']);
    });

    it('reads the word boundary of Python', async () => {
      const found = async (pattern: string) => ((await world.call('project_management.search_tasks', { task_name: pattern })) as JsonObject[]).length;
      expect(await found('\\banimation\\b')).toBeGreaterThan(0);
      expect(await found('\\bnimation')).toBe(0);
      expect(await found('\\Bnimation')).toBeGreaterThan(0);
    });
  });

  describe('change', () => {
    it('mails: sent, forwarded, answered, deleted', async () => {
      await using world = await bench.open();
      expect(await world.call('email.send_email', { recipient: 'X@Y.z', subject: 's', body: 'b' })).toBe('Email sent successfully.');
      expect(await world.call('email.forward_email', { email_id: '500', recipient: 'Q@y.z' })).toBe('Email forwarded successfully.');
      expect(await world.call('email.reply_email', { email_id: '00000373', body: 'ok' })).toBe('Email replied successfully.');
      expect(await world.call('email.delete_email', { email_id: '00000373' })).toBe('Email deleted successfully.');
      const sent = { 'inbox/outbox': 'outbox', sent_datetime: '2023-11-30 00:00:00', label: null };
      const effects = await world.effects();
      expect(effects.map(({ change, after }) => ({ change, after }))).toMatchObject([
        { change: 'insert', after: { ...sent, email_id: '500', 'sender/recipient': 'x@y.z', subject: 's', body: 'b' } },
        { change: 'insert', after: { ...sent, email_id: '501', 'sender/recipient': 'q@y.z', subject: 'FW: s', body: 'b' } },
        {
          change: 'insert',
          after: {
            ...sent,
            email_id: '502',
            'sender/recipient': 'santiago.martinez@atlas.com',
            subject: 'Task Update on Develop prototype for payment gateway',
          },
        },
        { change: 'delete', after: null },
      ]);
      // Text of the folder comes as it is: backslash and n.
      expect(effects[3]?.before?.body).toMatch(/^Sam,\\n\\nCompleted/);
      const found = (await world.call('email.search_emails', { query: 'y.z' })) as JsonObject[];
      expect(found.map((mail) => mail.email_id)).toEqual(['500', '501']);
    });

    it('mails: a sent mail never takes the place of another', async () => {
      await using world = await bench.open();
      await world.call('email.delete_email', { email_id: '00000373' });
      await world.call('email.send_email', { recipient: 'a@b.c', subject: 's', body: 'b' });
      expect((await world.effects()).map((effect) => effect.change)).toEqual(['delete', 'insert']);
    });

    it('tasks: created, updated, deleted', async () => {
      await using world = await bench.open();
      const task = { task_name: 'n', assigned_to_email: 'Carlos.Rodriguez@atlas.com', list_name: 'Backlog', due_date: '2023-12-01', board: 'Design' };
      expect(await world.call('project_management.create_task', task)).toBe('00000300');
      expect(await world.call('project_management.update_task', { task_id: '00000300', field: 'list_name', new_value: 'Completed' })).toBe(
        'Task updated successfully.',
      );
      expect(await world.call('project_management.update_task', { task_id: '00000300', field: 'task_id', new_value: '00000149' })).toBe(
        'Task updated successfully.',
      );
      // The first row of an id is the one that is read; all are deleted.
      expect(await world.call('project_management.get_task_information_by_id', { task_id: '00000149', field: 'board' })).toEqual({ board: 'Front end' });
      expect(await world.call('project_management.delete_task', { task_id: '00000149' })).toBe('Task deleted successfully.');
      const effects = await world.effects();
      expect(effects.map((effect) => effect.change)).toEqual(['insert', 'update', 'update', 'delete', 'delete']);
      expect(effects[0]?.after).toMatchObject({ ...task, task_id: '00000300', assigned_to_email: 'carlos.rodriguez@atlas.com' });
      expect(new Set(effects.map((effect) => JSON.stringify(effect.key))).size).toBe(2);
    });

    it('tasks: no new id where the largest is no number', async () => {
      await using world = await bench.open();
      await world.call('project_management.update_task', { task_id: '00000149', field: 'task_id', new_value: 'x' });
      const task = { task_name: 'n', assigned_to_email: 'carlos.rodriguez@atlas.com', list_name: 'Backlog', due_date: '2023-12-01', board: 'Design' };
      await expect(world.call('project_management.create_task', task)).rejects.toMatchObject({ code: 'id_not_a_number' });
    });

    it('events: created, updated, with a field that was not there', async () => {
      await using world = await bench.open();
      const event = { event_name: 'Talk', participant_email: 'A@B.c', event_start: '2023-12-01 09:00:00', duration: '30' };
      expect(await world.call('calendar.create_event', event)).toBe('00000300');
      expect(await world.call('calendar.update_event', { event_id: '00000300', field: 'participant_email', new_value: 'Q@R.s' })).toBe(
        'Event updated successfully.',
      );
      expect(await world.call('calendar.update_event', { event_id: '00000300', field: 'room', new_value: '7' })).toBe('Event updated successfully.');
      expect(await world.call('calendar.get_event_information_by_id', { event_id: '00000300', field: 'room' })).toEqual({ room: '7' });
      expect(await world.call('calendar.get_event_information_by_id', { event_id: '00000013', field: 'room' })).toEqual({ room: null });
      expect(await world.call('calendar.delete_event', { event_id: '00000013' })).toBe('Event deleted successfully.');
      const effects = await world.effects();
      expect(effects[2]?.after).toMatchObject({ event_id: '00000300', event_name: 'Talk', participant_email: 'q@r.s', added_columns: { room: '7' } });
    });

    it('plots: in the order in which they were made, repeats too', async () => {
      await using world = await bench.open();
      const plot = { time_min: '2023-10-01', time_max: 'x', value_to_plot: 'visits_direct', plot_type: 'scatter' };
      for (const _ of [1, 2]) expect(await world.call('analytics.create_plot', plot)).toBe('plots/2023-10-01_x_visits_direct_scatter.png');
      expect((await world.effects()).map((effect) => effect.key)).toEqual([{ position: expect.anything() }, { position: expect.anything() }]);
    });

    it('customers: added, updated, deleted', async () => {
      await using world = await bench.open();
      const added = { customer_name: 'N', assigned_to_email: 'A@b.c', status: 'whatever', customer_email: 'N@X' };
      expect(await world.call('customer_relationship_manager.add_customer', added)).toBe('00000200');
      expect(
        await world.call('customer_relationship_manager.update_customer', { customer_id: '00000200', field: 'assigned_to_email', new_value: 'Q@b.c' }),
      ).toBe('Customer updated successfully.');
      expect(await world.call('customer_relationship_manager.search_customers', { customer_name: '^n$' })).toEqual([
        {
          customer_id: '00000200',
          assigned_to_email: 'q@b.c',
          customer_name: 'N',
          customer_email: 'n@x',
          customer_phone: null,
          last_contact_date: null,
          product_interest: null,
          status: 'whatever',
          follow_up_by: null,
          notes: '',
        },
      ]);
      expect(await world.call('customer_relationship_manager.delete_customer', { customer_id: '00000200' })).toBe('Customer deleted successfully.');
    });
  });
});

describe.skipIf(!datasets.met)(skipTitle('the option compat', datasets), () => {
  it('overwrites the mail whose row label is the number of rows', async () => {
    await using bench = await openBench(inject('services').postgresUrl, { data, domains: ['email'], compat: true });
    await using world = await bench.open();
    const send = () => world.call('email.send_email', { recipient: 'a@b.c', subject: 's', body: 'b' });
    await world.call('email.delete_email', { email_id: '00000373' });
    await send();
    await send();
    const effects = await world.effects();
    expect(effects.map(({ change, after }) => [change, after?.email_id ?? null])).toEqual([
      ['delete', null],
      ['update', '500'],
      ['update', '501'],
    ]);
    expect(effects[1]?.key).toEqual(effects[2]?.key);
  });

  it('appends where that label is free', async () => {
    await using bench = await openBench(inject('services').postgresUrl, { data, domains: ['email'], compat: true });
    await using world = await bench.open();
    const send = () => world.call('email.send_email', { recipient: 'a@b.c', subject: 's', body: 'b' });
    await send();
    await send();
    const effects = await world.effects();
    expect(effects.map(({ change, after }) => [change, after?.email_id ?? null])).toEqual([
      ['insert', '500'],
      ['insert', '501'],
    ]);
  });
});
