/**
 * Which part may import which. One way only: cli -> client -> (worker, recorded, store, suite, report); worker -> activities ->
 * gateway, environments, store, suite -> domain; workflows -> domain. `infra` is used by client and cli, and uses of the rest only
 * the configuration.
 */
const layers = {
  domain: [],
  keys: [],
  processes: [],
  postgres: [],
  'tool-server': ['domain', 'environments', 'processes'],
  workflows: ['domain'],
  store: ['domain', 'keys', 'postgres'],
  environments: ['domain', 'postgres'],
  suite: ['domain', 'environments', 'infra/make-folder', 'processes'],
  models: ['domain'],
  contract: ['domain'],
  cassettes: ['domain', 'environments', 'infra/make-folder', 'store', 'suite'],
  drafts: ['cassettes', 'domain', 'environments', 'suite'],
  judges: ['domain', 'models', 'suite'],
  live: ['domain', 'environments', 'store'],
  report: ['domain', 'judges', 'store', 'suite'],
  gateway: ['domain', 'environments', 'judges/label-keys', 'models', 'report', 'store'],
  activities: ['cassettes', 'domain', 'environments', 'gateway', 'models', 'processes', 'store', 'suite', 'tool-server', 'workflows'],
  recorded: ['domain', 'environments', 'store', 'suite', 'activities'],
  infra: ['processes', 'worker/config'],
  worker: ['cassettes', 'domain', 'keys', 'workflows', 'environments', 'gateway', 'live', 'models', 'store', 'suite', 'activities', 'infra', 'tool-server'],
  client: [
    'cassettes',
    'contract',
    'domain',
    'drafts',
    'keys',
    'workflows',
    'environments',
    'gateway',
    'judges',
    'models',
    'store',
    'suite',
    'report',
    'activities',
    'recorded',
    'infra',
    'worker',
    'init',
    'tool-server',
  ],
  init: ['infra/make-folder'],
  cli: ['cassettes', 'contract', 'domain', 'keys', 'environments', 'judges', 'store', 'suite', 'report', 'client', 'infra', 'worker', 'init'],
};

/** Single modules of which a lower layer may import types, because the contract between two layers has to lie in one of them. */
const contracts = {
  workflows: ['activities/contract', 'activities/batch-contract', 'activities/model-contract'],
  environments: ['worker/config'],
  suite: ['store/store'],
  gateway: ['client/api'],
};

const typesOnly = Object.entries(contracts).map(([layer, modules]) => ({
  name: `only-types-for-${layer}`,
  comment: `src/${layer} may import nothing but types from ${modules.join(', ')}`,
  severity: 'error',
  from: { path: `^src/${layer}/` },
  to: { path: `^src/(${modules.join('|')})[.]`, dependencyTypesNot: ['type-only'] },
}));

const oneWay = Object.entries(layers).map(([layer, allowed]) => ({
  name: `imports-of-${layer}`,
  comment: `src/${layer} may import ${['itself', ...allowed].join(', ')}`,
  severity: 'error',
  from: { path: `^src/${layer}/` },
  to: { path: '^src/', pathNot: `^src/(${[layer, ...allowed, ...(contracts[layer] ?? [])].join('|')})[/.]` },
}));

module.exports = {
  forbidden: [
    ...oneWay,
    ...typesOnly,
    {
      name: 'workflow-code-is-pure',
      comment: 'Workflow code is replayed: it may use @temporalio/workflow and types, and nothing that reads a clock, a file or a network.',
      severity: 'error',
      from: { path: '^src/workflows/' },
      to: { pathNot: ['^src/(workflows|domain)/', 'node_modules/@temporalio/(workflow|common)/'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'domain-is-pure',
      comment: 'Rules of the domain run in workflows, workers and reports alike.',
      severity: 'error',
      from: { path: '^src/domain/', pathNot: '^src/domain/statistics/' },
      to: { pathNot: '^src/domain/' },
    },
    {
      name: 'statistics-are-pure',
      comment: 'Estimators take quantiles from libraries that only compute.',
      severity: 'error',
      from: { path: '^src/domain/statistics/' },
      to: { pathNot: ['^src/domain/statistics/', 'node_modules/(@stdlib/stats-base-dists-[a-z]+-quantile|d3-array|@types/d3-array)/'] },
    },
    {
      name: 'workflows-have-no-statistics',
      comment: 'The libraries of the estimators would be loaded into every workflow; what judges a batch uses them.',
      severity: 'error',
      from: { path: '^src/(workflows/|domain/(?!statistics/|gates/))' },
      to: { path: '^src/domain/(statistics|gates)/', dependencyTypesNot: ['type-only'] },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } } },
    { name: 'resolvable', severity: 'error', from: { path: '^src/' }, to: { couldNotResolve: true } },
    {
      name: 'no-development-packages',
      comment: 'The published package has only its dependencies.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/init/template/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'], pathNot: 'node_modules/@types/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^src/init/template/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.js', '.json'],
    },
  },
};
