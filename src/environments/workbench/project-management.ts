import { z } from 'zod';
import { defineTool, type WorldSql } from '../define.ts';
import { cells, given, text } from './arguments.ts';
import { PATTERN_FAILURES, queryByPattern, toPostgresPattern } from './patterns.ts';
import { append, cellsOf, comparisonOf, lockForAppend, nextId, quoted, removeById, rowById, setCell, type Cells, type OrderedTable } from './table.ts';
import type { Toolkit } from './toolkit.ts';

const TASKS: OrderedTable = {
  name: 'project_tasks',
  id: 'task_id',
  columns: ['task_id', 'task_name', 'assigned_to_email', 'list_name', 'due_date', 'board'],
};

const LISTS = ['Backlog', 'In Progress', 'In Review', 'Completed'];
const BOARDS = ['Back end', 'Front end', 'Design'];
const BAD_ASSIGNEE = 'Assignee email not valid. Please choose from the list of team members.';
const BAD_LIST = "List not valid. Please choose from: 'Backlog', 'In Progress', 'In Review', 'Completed'.";
const BAD_BOARD = "Board not valid. Please choose from: 'Back end', 'Front end', 'Design'.";

/** The team's task boards. */
export const projectManagement: Toolkit = {
  name: 'project_management',
  schema: new URL('./schema/project-management.sql', import.meta.url),
  files: [{ file: 'project_tasks.csv', table: TASKS.name, columns: TASKS.columns }],
  comparison: comparisonOf(TASKS, ['list_name', 'board']),
  tools: () => [getTask, searchTasks, createTask, deleteTask, updateTask],
};

const getTask = defineTool({
  name: 'project_management.get_task_information_by_id',
  description: 'Reads one field of a task.',
  input: z.strictObject({ task_id: text('Id of the task, 8 digits.'), field: text(`One of ${TASKS.columns.map((column) => `"${column}"`).join(', ')}.`) }),
  result: z.union([cells, z.string()]),
  effect: 'read',
  async run({ task_id: id, field }, { db }) {
    if (!given(id)) return 'Task ID not provided.';
    if (!given(field)) return 'Field not provided.';
    const row = await rowById(db, TASKS, id);
    if (!row) return 'Task not found.';
    if (!TASKS.columns.includes(field)) return 'Field not found.';
    return { [field]: row[field] ?? null };
  },
});

const searchTasks = defineTool({
  name: 'project_management.search_tasks',
  description: 'Searches tasks by regular expressions, letter case aside. A task must match every field that is given.',
  input: z.strictObject({
    task_name: text('Name of the task.'),
    assigned_to_email: text('E-mail address of the assignee.'),
    list_name: text('Name of the list.'),
    due_date: text('Due date, YYYY-MM-DD.'),
    board: text('Name of the board.'),
  }),
  result: z.union([z.array(cells), z.string()]),
  effect: 'read',
  failures: PATTERN_FAILURES,
  async run(args, { db }) {
    const named = (['task_name', 'assigned_to_email', 'list_name', 'due_date', 'board'] as const).flatMap((column) => {
      const value = args[column];
      return given(value) ? [{ column, pattern: toPostgresPattern(value) }] : [];
    });
    if (named.length === 0) return 'No search parameters provided.';
    const where = named.map(({ column }, i) => `${quoted(column)} ~* $${i + 1}`).join(' and ');
    return queryByPattern<Cells>(
      db,
      `select ${cellsOf(TASKS)} from project_tasks where ${where} order by position`,
      named.map(({ pattern }) => pattern),
    );
  },
});

const createTask = defineTool({
  name: 'project_management.create_task',
  description: 'Creates a task. Returns its id.',
  input: z.strictObject({
    task_name: text('Name of the task.'),
    assigned_to_email: text('E-mail address of the assignee, who must be a member of the team.'),
    list_name: text(`One of ${LISTS.join(', ')}.`),
    due_date: text('Due date, YYYY-MM-DD.'),
    board: text(`One of ${BOARDS.join(', ')}.`),
  }),
  result: z.string(),
  effect: 'write',
  failures: ['id_not_a_number'],
  async run({ task_name: name, assigned_to_email: assignee, list_name: list, due_date: due, board }, { db }) {
    if (!given(name) || !given(assignee) || !given(list) || !given(due) || !given(board)) return 'Missing task details.';
    await lockForAppend(db, TASKS);
    if (!(await isAssignee(db, assignee.toLowerCase()))) return BAD_ASSIGNEE;
    if (!LISTS.includes(list)) return BAD_LIST;
    if (!BOARDS.includes(board)) return BAD_BOARD;
    const id = (await nextId(db, TASKS)).padStart(8, '0');
    await append(db, TASKS, { task_id: id, task_name: name, assigned_to_email: assignee.toLowerCase(), list_name: list, due_date: due, board });
    return id;
  },
});

const deleteTask = defineTool({
  name: 'project_management.delete_task',
  description: 'Deletes a task.',
  input: z.strictObject({ task_id: text('Id of the task, 8 digits.') }),
  result: z.string(),
  effect: 'write',
  async run({ task_id: id }, { db }) {
    if (!given(id)) return 'Task ID not provided.';
    return (await removeById(db, TASKS, id)) > 0 ? 'Task deleted successfully.' : 'Task not found.';
  },
});

const updateTask = defineTool({
  name: 'project_management.update_task',
  description: 'Sets one field of a task.',
  input: z.strictObject({
    task_id: text('Id of the task, 8 digits.'),
    field: text(`One of ${TASKS.columns.map((column) => `"${column}"`).join(', ')}.`),
    new_value: text('New value of the field.'),
  }),
  result: z.string(),
  effect: 'write',
  async run({ task_id: id, field, new_value: value }, { db }) {
    if (!given(id) || !given(field) || !given(value)) return 'Task ID, field, or new value not provided.';
    const cell = field === 'assigned_to_email' ? value.toLowerCase() : value;
    if (field === 'board' && !BOARDS.includes(cell)) return BAD_BOARD;
    if (field === 'list_name' && !LISTS.includes(cell)) return BAD_LIST;
    if (field === 'assigned_to_email' && !(await isAssignee(db, cell))) return BAD_ASSIGNEE;
    if (!(await rowById(db, TASKS, id))) return 'Task not found.';
    if (!TASKS.columns.includes(field)) return 'Field not valid.';
    await setCell(db, TASKS, id, field, cell);
    return 'Task updated successfully.';
  },
});

/** Only who has a task now can be given one. */
async function isAssignee(db: WorldSql, address: string): Promise<boolean> {
  const rows = await db.query('select from project_tasks where assigned_to_email = $1 limit 1', [address]);
  return rows.length > 0;
}
