// Names of members in both cases, and objects made of the members of others.

/** The name in camel case of one in snake case. */
export type Camel<S extends string> = S extends `${infer Head}_${infer Rest}` ? `${Head}${Capitalize<Camel<Rest>>}` : S

export function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, first: string) => first.toUpperCase())
}

/**
 * Makes objects of one shape. Compiled for the members: setting them one by one by a variable name takes ten times as long.
 * @param members by name, the JavaScript expression of each value, in which `from` and `more` are the arguments; without any foreign text
 * @param helpers functions that the expressions call, by name
 */
export function objectMaker<From, To, More extends unknown[] = []>(
  members: readonly (readonly [name: string, expression: string])[],
  helpers: Readonly<Record<string, unknown>> = {},
): (from: From, ...more: More) => To {
  const body = members.map(([name, expression]) => `${JSON.stringify(name)}: ${expression}`).join(', ')
  const parameters = body.includes('...more') ? 'from, ...more' : 'from'
  const compile = new Function(...Object.keys(helpers), `return (${parameters}) => ({ ${body} })`)
  return compile(...Object.values(helpers)) as (from: From, ...more: More) => To
}

/** The expression of a member of the first argument. */
export function fromMember(name: string): string {
  return `from[${JSON.stringify(name)}]`
}
