import pg from 'pg';
import { expect, inject, test } from 'vitest';

test('the shared services answer', async () => {
  const { postgresUrl, temporalAddress } = inject('services');
  const client = new pg.Client({ connectionString: postgresUrl });
  await client.connect();
  const { rows } = await client.query('SELECT current_setting($1) AS version', ['server_version']);
  await client.end();
  expect(rows[0].version).toMatch(/^18\./);
  expect(temporalAddress).toMatch(/^127\.0\.0\.1:\d+$/);
});
