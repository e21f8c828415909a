import type { Environment } from '#simulator/environment.ts';
import type { Handlers } from '#simulator/service/call.ts';
import { jsonAnswer, notFound, parsed } from '#simulator/service/errors.ts';
import { oneMore, pageAnswer, pageFrom, wholeList } from '#simulator/service/query.ts';
import { simulationBody, topupBody } from '#simulator/service/request-bodies.ts';
import type { Simulation } from '#simulator/simulation.ts';
import type { EsimRecord } from '#simulator/store/esims.ts';
import { wireEsim, wirePackage, wireRefund, wireTopup, wireUsage } from '#simulator/wire.ts';

type EsimEndpoint =
  | 'getEsimUsage'
  | 'listTopupOptions'
  | 'createTopup'
  | 'getTopup'
  | 'listTopups'
  | 'cancelEsim'
  | 'getRefund'
  | 'listRefunds'
  | 'simulateEsim';

/** Handlers about delivered eSIMs: usage, top-ups, cancellation, refunds, simulation. */
export const ESIM_HANDLERS: Handlers<EsimEndpoint> = {
  getEsimUsage: (simulation, { environment, id }) => {
    const esim = requireEsim(simulation, environment, id);
    return jsonAnswer(200, wireUsage(esim, simulation.esimLifecycle.state(esim), simulation.clock.now()));
  },

  listTopupOptions: (simulation, { environment, id }) => {
    const options = simulation.esimLifecycle.topupOptions(requireEsim(simulation, environment, id));
    return wholeList(
      options.filter(({ available }) => available),
      wirePackage,
    );
  },

  createTopup: async ({ purchases }, call) => purchases.topUp(call, parsed(topupBody, call.json)),

  getTopup: ({ sales }, { environment, id }) => {
    const topup = sales.get('topup', id, environment);
    if (topup === undefined) throw notFound('top-up');
    return jsonAnswer(200, wireTopup(topup));
  },

  listTopups: ({ sales }, { environment, query }) => {
    const page = pageFrom(query);
    const filter = { kind: 'topup', environment, esimId: query['esim_id'] } as const;
    return pageAnswer(sales.newestFirst(filter, oneMore(page)), page, wireTopup);
  },

  cancelEsim: async ({ cancellations }, call) => cancellations.cancel(call),

  getRefund: ({ refunds }, { environment, id }) => {
    const refund = refunds.get(id, environment);
    if (refund === undefined) throw notFound('refund');
    return jsonAnswer(200, wireRefund(refund));
  },

  listRefunds: ({ refunds }, { environment, query }) => {
    const page = pageFrom(query);
    const rows = refunds.newestFirst({ environment, esimId: query['esim_id'] }, oneMore(page));
    return pageAnswer(rows, page, wireRefund);
  },

  simulateEsim: (simulation, { environment, id, json }) => {
    const { state } = parsed(simulationBody, json);
    const esim = simulation.esimLifecycle.changeState(requireEsim(simulation, environment, id), state);
    const { status, installed_at, activated_at } = wireEsim(esim, simulation.esimLifecycle.state(esim));
    return jsonAnswer(200, { id, status, installed_at, activated_at });
  },
};

function requireEsim({ esims }: Simulation, environment: Environment, id: string): EsimRecord {
  const esim = esims.get(id, environment);
  if (esim === undefined) throw notFound('eSIM');
  return esim;
}
