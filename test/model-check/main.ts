import { BOUNDS, DIALECTS, type BoundName, type DialectName } from '#test/model-check/dialects.ts';
import { explore } from '#test/model-check/engine.ts';
import { machineOf } from '#test/model-check/machine.ts';
import { rulesWith, type OldRuleName } from '#test/model-check/rules.ts';
const [, , bound, dialect, limit, old] = process.argv;
const t = Date.now();
const s = explore(machineOf(rulesWith(old as OldRuleName), DIALECTS[dialect as DialectName], BOUNDS[bound as BoundName]), Number(limit));
process.stdout.write(JSON.stringify({ ...s, s: (Date.now() - t) / 1000, mb: process.memoryUsage().rss >> 20 }, null, 1) + '\n');
