/** Translates described schemas into our names and forms, as `upstream/contract/variants.ts` does for answers. */
import { isAmount } from '#upstream/contract-check/compare/read-values.ts';
import type { JsonObject } from '#upstream/contract-check/schema/document.ts';
import { formsOrNone, type ResolvedSchema } from '#upstream/contract-check/schema/resolved-schema.ts';
import { inOurTerms, ourName, VARIANTS } from '#upstream/contract/variants.ts';

/** The form of an object, with its fields under the names that we read. */
export function formInOurTerms(document: JsonObject, form: ResolvedSchema): ResolvedSchema {
  const named = inOurNames(form);
  for (const name of [...named.properties.keys()].filter(isAmount)) flattenAmount(document, named, name);
  return { ...form, ...named };
}

interface Named {
  readonly properties: Map<string, unknown>;
  readonly required: Set<string>;
}

function inOurNames(form: ResolvedSchema): Named {
  const properties = new Map<string, unknown>();
  const required = new Set<string>();
  for (const [theirs, schema] of form.properties) {
    const name = ourName(theirs, Object.fromEntries(form.properties), VARIANTS);
    properties.set(name, schema);
    if (form.required.has(theirs)) required.add(name);
  }
  return { properties, required };
}

/** A value of a field, translated into our value. */
export function valueInOurTerms(name: string, value: unknown): unknown {
  const read = inOurTerms({ [name]: value }, VARIANTS);
  return typeof read === 'object' && read !== null && Object.hasOwn(read, name) ? Reflect.get(read, name) : value;
}

/** Replaces a field of the form `{"amount": …, "currency": …}` by an amount with a currency beside it. */
function flattenAmount(document: JsonObject, { properties, required }: Named, name: string): void {
  const forms = formsOrNone(document, properties.get(name));
  const form = forms.find(({ types }) => types?.has('object') === true);
  const object = form === undefined ? undefined : inOurNames(form);
  const amounts = ['amount', 'value'].filter((each) => object?.properties.has(each) === true);
  const [amount] = amounts;
  if (object === undefined || amount === undefined || amounts.length > 1 || !object.properties.has('currency')) return;
  const mayBeNull = forms.some(({ types }) => types?.has('null') === true);
  const schema = object.properties.get(amount);
  properties.set(name, mayBeNull ? { anyOf: [schema, { type: 'null' }] } : schema);
  if (properties.has('currency')) return;
  properties.set('currency', object.properties.get('currency'));
  if (required.has(name)) required.add('currency');
}
