import pg from 'pg';
import { expect, it } from 'vitest';
import { withDatabase } from '../../src/environments/hosts/connection.ts';
import { prepareHost } from '../../src/environments/hosts/host.ts';
import { ownServer } from '../fixtures/packs/shop/kit.ts';

it('a new server is prepared by several processes at once, whichever database their URLs name', async () => {
  await using server = await ownServer();
  const names = ['one', 'two', 'three', 'four', 'five', 'six'];
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  for (const name of names) await client.query(`create database ${name}`);
  await client.end();
  const hosts = await Promise.all(
    names.map((name) => prepareHost({ name: 'shared', kind: 'external', adminUrl: withDatabase(server.url, name) }, { admin: 2, control: 1 })),
  );
  try {
    expect(new Set(hosts.map(({ registry }) => registry)).size).toBe(1);
    expect(new Set(hosts.map(({ tool }) => tool.password)).size).toBe(1);
  } finally {
    await Promise.all(hosts.map((host) => host.close()));
  }
});
