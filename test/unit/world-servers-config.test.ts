import { describe, expect, test } from 'vitest';
import { type ConfigError, type Endpoints, type Environment, readConfig, readSettings } from '../../src/worker/config.ts';

const endpoints: Endpoints = {
  storeUrl: 'postgres://store',
  worldHosts: ['east', 'west'].map((name) => ({ name, kind: 'external', adminUrl: `postgres://${name}` })),
  temporal: { address: 'temporal:7233', namespace: 'default' },
};

const problems = (read: () => unknown): readonly string[] => {
  try {
    read();
  } catch (error) {
    return (error as ConfigError).problems;
  }
  return [];
};

describe('TRIALBED_WORLDS_URL', () => {
  const read = (text: string) => readSettings({ TRIALBED_WORLDS_URL: text }).worldsUrls;

  test('is one URL, with a name or without, or several with names', () => {
    expect(read('postgres://a/w')).toEqual([{ name: 'external', url: 'postgres://a/w' }]);
    expect(read('east=postgres://a/w')).toEqual([{ name: 'east', url: 'postgres://a/w' }]);
    expect(read(' east=postgres://a/w?x=y\n west-2=postgresql://b ')).toEqual([
      { name: 'east', url: 'postgres://a/w?x=y' },
      { name: 'west-2', url: 'postgresql://b' },
    ]);
  });

  test.each([
    ['east=mysql://a', /^TRIALBED_WORLDS_URL: expected a URL such as/],
    ['East=postgres://a', /expected a URL such as/],
    ['postgres://a postgres://b', /expected a name before each/],
    ['a=postgres://a a=postgres://b', /expected another name/],
  ])('%s is refused, and no password is told', (text, message) => {
    const [problem] = problems(() => read(text.replace('//', '//user:geheim@')));
    expect(problem).toMatch(message);
    expect(problem).not.toContain('geheim');
  });
});

describe('TRIALBED_WORLD_CONNECTIONS', () => {
  const read = (env: Environment) => {
    const { worldConnections, worldHosts } = readConfig(env, endpoints);
    return [worldConnections, ...worldHosts.map(({ connections }) => connections ?? null)];
  };

  test('is a number for all, numbers for some, or both', () => {
    expect(read({})).toEqual([40, null, null]);
    expect(read({ TRIALBED_WORLD_CONNECTIONS: '12' })).toEqual([12, null, null]);
    expect(read({ TRIALBED_WORLD_CONNECTIONS: 'west:60' })).toEqual([40, null, 60]);
    expect(read({ TRIALBED_WORLD_CONNECTIONS: '8, east:10 west:60' })).toEqual([8, 10, 60]);
  });

  test.each(['7', 'many', 'east:4', '10 20', 'east=10'])('%s is refused', (text) => {
    expect(problems(() => read({ TRIALBED_WORLD_CONNECTIONS: text }))).toEqual([
      'TRIALBED_WORLD_CONNECTIONS: expected a whole number of 8 or more, or one for each server as in east:60 west:20',
    ]);
  });

  test('a server that is not there is named with those that are', () => {
    expect(problems(() => read({ TRIALBED_WORLD_CONNECTIONS: 'north:10' }))).toEqual([
      'TRIALBED_WORLD_CONNECTIONS: expected names of servers (there are: east, west), not north',
    ]);
  });
});
