import * as z from 'zod';
import type { Behaviour } from '#simulator/behaviour/behaviours.ts';

/** A VPN plan of the simulator. */
export interface VpnPlanItem {
  readonly id: number;
  readonly name: string;
  readonly durationDays: number;
  readonly price: string;
  readonly available: boolean;
  /** Outcome of its order, unless a rule of the admin API decides; by default active at once. */
  readonly behaviour?: Behaviour;
}

/** A VPN plan that the admin API has added. */
export const addedPlan: z.ZodType<VpnPlanItem> = z.object({
  id: z.number(),
  name: z.string(),
  durationDays: z.number(),
  price: z.string(),
  available: z.boolean(),
});

/** All VPN plans in the order of their ids; `docs/simulator.md` lists the special ones. */
export const VPN_PLANS: readonly VpnPlanItem[] = [
  { id: 301, name: 'VPN, 30 days', durationDays: 30, price: '2.90', available: true },
  { id: 302, name: 'VPN, 90 days', durationDays: 90, price: '7.425', available: true },
  { id: 303, name: 'VPN, 365 days', durationDays: 365, price: '24.00', available: true },
  special(391, 'processing, then active', { outcome: 'processing_then_completed' }),
  special(392, 'processing, then failed and credited back', { outcome: 'processing_then_failed' }),
  special(393, 'failed at once and credited back', { outcome: 'failed_at_once' }),
  special(394, 'stays processing', { outcome: 'stay_processing' }),
  special(395, 'processing, then failed without a credit', {
    outcome: 'processing_then_failed',
    credit_after_ms: null,
  }),
  { ...special(396, 'unavailable', { outcome: 'completed' }), available: false },
];

function special(id: number, what: string, behaviour: Behaviour): VpnPlanItem {
  return { id, name: `Simulation: ${what}`, durationDays: 30, price: '1.90', available: true, behaviour };
}
