/** The terms with which the tests read literal answers: what is entered for a real service must not change them. */
import { VARIANTS } from '#upstream/contract/variants.ts';

Object.assign(VARIANTS, {
  fields: { state: 'status', credentials: 'access', license_key: 'licence_key', config: 'configuration' },
  values: { status: { canceled: 'cancelled' } },
  amounts: 'unstated',
  records: {},
  parameters: {},
  wrappers: ['data', 'result', 'payload'],
  lists: ['items', 'results', 'records'],
} satisfies typeof VARIANTS);
