import { contractOpenApi, type BodyName, type Schema } from '#test/support/contract-openapi.ts';
import { ENDPOINTS, type EndpointName, type EventKind } from '#upstream/contract.ts';

/** A document of a service that differs from the contract. */
export interface Difference {
  readonly name: string;
  readonly verdict: 'breaking' | 'note' | 'compatible';
  /**
   * The places of the expected findings: the call, the event or `document`, and the field or header, such as
   * `createOrder external_order_id`. A breaking difference has no other breaking findings.
   */
  readonly at: readonly string[];
  readonly change: (draft: Draft) => void;
}

function difference(
  verdict: Difference['verdict'],
  name: string,
  at: string | readonly string[],
  change: Difference['change'],
): Difference {
  return { name, verdict, at: [at].flat(), change };
}

export function breaking(name: string, at: string | readonly string[], change: Difference['change']): Difference {
  return difference('breaking', name, at, change);
}

export function note(name: string, at: string | readonly string[], change: Difference['change']): Difference {
  return difference('note', name, at, change);
}

export function harmless(name: string, change: Difference['change']): Difference {
  return difference('compatible', name, [], change);
}

/** The place of a field in a request or an answer, such as `listOrders data[].status`. */
export type Place = `${EndpointName} ${string}`;

export function field(part: 'request' | 'answer', at: Place, schema: Schema): Difference['change'] {
  const [call = '', place = ''] = at.split(' ');
  const steps = place.split('.');
  const name = steps.pop() ?? '';
  return (draft) => draft.set(`${call} ${part}` as BodyName, name, schema, steps.join('.'));
}

export const text = (constraint: Schema = {}): Schema => ({ type: 'string', ...constraint });

interface DraftParameter {
  name: string;
  in: string;
  required?: boolean;
  schema: Schema;
}

/** A document that equals the contract, to be changed. */
export class Draft {
  readonly document: Schema = contractOpenApi();

  call(name: EndpointName): Schema {
    const { path, method } = ENDPOINTS[name];
    return inside(this.document, 'paths', path, method.toLowerCase());
  }

  parameters(name: EndpointName): DraftParameter[] {
    return this.call(name)['parameters'] as DraftParameter[];
  }

  /** The schema of a parameter. @throws Error if the call has no such parameter. */
  parameter(call: EndpointName, name: string): DraftParameter {
    const found = this.parameters(call).find((each) => each.name === name);
    if (found === undefined) throw new Error(`${call} has no parameter ${name}`);
    return found;
  }

  removeParameter(call: EndpointName, name: string): void {
    const parameters = this.parameters(call);
    parameters.splice(parameters.indexOf(this.parameter(call, name)), 1);
  }

  event(kind: EventKind): Schema {
    return inside(this.document, 'webhooks', kind, 'post');
  }

  /** The media type object of a body, whose field `schema` has the body's schema. */
  media(name: BodyName): Schema {
    const [of = '', part] = name.split(' ');
    if (of === 'event') return inside(this.event(part as EventKind), 'requestBody', 'content', 'application/json');
    const operation = this.call(of as EndpointName);
    const holder = part === 'request' ? inside(operation, 'requestBody') : inside(operation, 'responses', '200');
    return inside(holder, 'content', 'application/json');
  }

  body(name: BodyName): Schema {
    return inside(this.media(name), 'schema');
  }

  /** The object at a path of a body, such as `data[]` or `data.refund`. */
  object(name: BodyName, path = ''): Schema {
    const steps = path.split('.').filter((step) => step !== '');
    return steps.reduce((outer, step) => {
      const field = objectIn(inside(outer, 'properties', step.replace('[]', '')));
      return step.endsWith('[]') ? inside(field, 'items') : field;
    }, this.body(name));
  }

  fields(name: BodyName, path = ''): Schema {
    return inside(this.object(name, path), 'properties');
  }

  /** Replaces the description of a field. */
  set(name: BodyName, field: string, schema: Schema, path = ''): void {
    const fields = this.fields(name, path);
    if (!Object.hasOwn(fields, field)) throw new Error(`${name} ${path} has no field ${field}`);
    fields[field] = schema;
  }

  /** Removes a field from bodies, or renames it. */
  remove(names: readonly BodyName[], field: string, to?: string, path = pathOfRecord): void {
    for (const name of names) {
      const object = this.object(name, path(name));
      const { properties, required = [] } = object as { properties: Schema; required?: string[] };
      if (!Object.hasOwn(properties, field)) throw new Error(`${name} has no field ${field}`);
      if (to !== undefined) properties[to] = properties[field];
      Reflect.deleteProperty(properties, field);
      object['required'] = required.flatMap((each) => (each === field ? (to ?? []) : each));
    }
  }
}

/** The path of the record in a body of the contract. */
export function pathOfRecord(name: BodyName): string {
  if (name.startsWith('event ')) return 'data';
  return name.startsWith('list') ? 'data[]' : '';
}

function inside(outer: Schema, ...steps: string[]): Schema {
  return steps.reduce((current, step) => {
    const inner = current[step];
    if (typeof inner !== 'object' || inner === null) throw new Error(`there is no ${step} in ${steps.join(' ')}`);
    return inner as Schema;
  }, outer);
}

/** The object of a field that may be null. */
function objectIn(schema: Schema): Schema {
  const { anyOf } = schema as { anyOf?: Schema[] };
  return anyOf?.find(({ type }) => type === 'object') ?? schema;
}
