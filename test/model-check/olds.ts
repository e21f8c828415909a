
import { DIALECTS, type DialectName } from '#test/model-check/dialects.ts';
import { explore } from '#test/model-check/engine.ts';
import { machineOf } from '#test/model-check/machine.ts';
import { rulesWith, type OldRuleName } from '#test/model-check/rules.ts';
const N = { faults: 0, setBacks: 0, emptied: 0, sends: 2, refusals: 0, operator: 0, failures: 0 };
const L: [OldRuleName, DialectName, object][] = [
 ['a1','replays',{faults:2, sends:1}], ['b1','reusable_references',{setBacks:1}], ['b1','ignores_keys',{setBacks:1}], ['b2','at_once',{setBacks:1, sends:1}],['b2','replays',{setBacks:1, sends:1}],
 ['a6','replays',{faults:1}], ['a6','concurrent_keys',{faults:1}], ['worker-clock','replays',{faults:2}], ['refused-window','replays',{faults:1,refusals:1}],
 ['endless-resend','forgets_keys',{faults:1}], ['witness-from-row','ignores_keys',{faults:1,setBacks:1,operator:1}], ['no-epoch','ignores_keys',{faults:1,setBacks:1}],
 ['claim-without-witness','replays',{faults:1,setBacks:1,refusals:1}], ['restored-without-lease','replays',{faults:1,setBacks:1}],
 ['late-answer','at_once',{faults:1,sends:1}], ['seen-by-id','replays',{setBacks:1,sends:1}], ['stale-answer','ignores_keys',{faults:1,failures:1}], ['abandon-by-row','replays',{setBacks:1,operator:1}],
 ['sweeper-does-not-wake','no_wallet',{setBacks:1,failures:1,sends:1}],
];
for (const [old, d, b] of L) { if (process.argv[2] && process.argv[2]!==old) continue;
 const t=Date.now(); const s = explore(machineOf(rulesWith(old), DIALECTS[d], {...N, ...b}), 150000);
 process.stdout.write(`\n${old} ${d} ${JSON.stringify(b)} states ${s.states} ${s.isComplete} ${(Date.now()-t)/1000}s\n ${s.counterexample?.invariant}\n   ${s.counterexample?.trace.join('\n   ')}\n`);
}
