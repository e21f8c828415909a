import { DIALECTS, type DialectName } from '#test/model-check/dialects.ts';
import { explore } from '#test/model-check/engine.ts';
import { machineOf } from '#test/model-check/machine.ts';
import { rulesWith } from '#test/model-check/rules.ts';
const N = { faults: 0, setBacks: 0, emptied: 0, sends: 2, refusals: 0, operator: 0, failures: 0 };
const L: [DialectName, object][] = [
 ['at_once', {setBacks:1,sends:1}], ['replays', {setBacks:1,sends:1}], ['ignores_keys', {setBacks:1,sends:2}], ['at_once',{setBacks:1,sends:2,faults:1}],
 ['replays', {faults:1, sends:2}], ['forgets_keys', {faults:2, sends:2}],['ignores_keys', {faults:1,failures:1,operator:1,refusals:1, sends:2}], ['concurrent_keys', {faults:2, sends:2}], ['bare', {faults:1,failures:1,operator:1,emptied:1, sends:2}],
 ['replays', {setBacks:1,faults:1,operator:1,sends:2}],
];
for (const [d, b] of L) { 
 const t=Date.now(); const s = explore(machineOf(rulesWith(), DIALECTS[d], {...N, ...b}), Number(process.argv[2]));
 process.stdout.write(`\n${d} ${JSON.stringify(b)} states ${s.states} tr ${s.transitions} depth ${s.depth} ${s.isComplete} ${(Date.now()-t)/1000}s ${process.memoryUsage().rss>>20} MB\n ${s.counterexample?.invariant}\n   ${s.counterexample?.trace.join('\n   ')}\n`);
}
