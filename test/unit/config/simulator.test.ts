import { describe, expect, it } from 'vitest';
import { readSimulatorConfig } from '#config/simulator.ts';
import { dialectNames } from '#simulator/behaviour/dialect.ts';
import { faultProfileNames } from '#simulator/behaviour/faults.ts';
import { shapeNames } from '#simulator/shapes/shape.ts';

describe('the simulator’s configuration', () => {
  it('reports all errors, and the document that explains it', () => {
    const read = () =>
      readSimulatorConfig(
        { dialects: dialectNames, shapes: shapeNames, faultProfiles: faultProfileNames },
        { SIMULATOR_PORT: 'many', SIMULATOR_DIALECT: 'polite', SIMULATOR_WEBHOOK_URL: '' },
      );
    expect(read).toThrow(/SIMULATOR_PORT: [^]*SIMULATOR_DIALECT: [^]*See docs\/simulator\.md\.$/);
  });
});
