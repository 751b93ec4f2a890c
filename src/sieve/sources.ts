// The values that tests compare: of the header, the envelope, the body, dates, variables and the environment.

import { dateIn, datePart } from './dates.ts'
import { addressValue, fieldAt, type MessageView } from './message-view.ts'
import type { WorkMeter } from './meter.ts'
import { elementsOf } from './mime-parts.ts'
import type { MimeScope, SieveSource } from './script.ts'
import { SieveValue } from './value.ts'

/** What is known when a script runs. */
export interface SourceContext {
  view: MessageView
  /** "" for the null sender. */
  mailFrom: string
  rcptTo: string
  /** ms */
  receivedAt: number
  environment: ReadonlyMap<string, string>
  /** RFC 5235 §2.2. */
  spamLevel(): number
  /** Those of the message, or those in variables. */
  flags(variables: readonly string[] | null): Iterable<string>
  /** The headers that a test looks at: of the message, or of MIME parts. */
  views(scope: MimeScope | undefined): readonly MessageView[]
  meter: WorkMeter
}

/** RFC 5231 §4.2. */
export function countOf(source: SieveSource, context: SourceContext): number {
  if (source.of === 'address') {
    const { at, names, mime } = source
    const counts = context.views(mime).flatMap((view) => {
      return names.map((name) => (at ? view.addressesAt(name, 'all', at).length : view.countAddresses(name)))
    })
    return counts.reduce((sum, count) => sum + count, 0)
  }
  // The null sender does not count as an address.
  if (source.of === 'envelope') return source.ends.filter((end) => envelopeAddress(context, end) !== '').length
  // RFC 5229 §5: only strings that are not empty count.
  if (source.of === 'strings') return source.values.filter((value) => value !== '').length
  return [...valuesOf(source, context)].length
}

export function* valuesOf(source: SieveSource, context: SourceContext): Generator<SieveValue> {
  const { view, meter } = context
  switch (source.of) {
    case 'header':
      yield* headerValues(source, context)
      return
    case 'address':
      for (const one of context.views(source.mime)) {
        for (const name of source.names) {
          yield* source.at ? one.addressesAt(name, source.part, source.at) : one.addresses(name, source.part)
        }
      }
      return
    case 'envelope':
      for (const end of source.ends) {
        const address = envelopeAddress(context, end)
        // RFC 5228 5.4: the null sender is the empty string, for every address part.
        const value = address === '' ? new SieveValue('') : addressValue(address, source.part)
        if (value) yield value
      }
      return
    case 'flags':
      for (const flag of context.flags(source.variables)) yield new SieveValue(flag)
      return
    case 'strings':
      for (const value of source.values) yield new SieveValue(value)
      return
    case 'date':
      yield* dates(source, context)
      return
    case 'spam':
      yield new SieveValue(String(context.spamLevel()))
      return
    case 'environment': {
      // RFC 5183 §4: an unknown item makes the test false.
      const value = context.environment.get(source.name)
      if (value !== undefined) yield new SieveValue(value)
      return
    }
    default:
      yield* view.body(source.form, meter)
  }
}

function* headerValues(source: SieveSource & { of: 'header' }, context: SourceContext): Generator<SieveValue> {
  const { names, at, mime } = source
  for (const view of context.views(mime)) {
    for (const name of names) {
      const values = at ? view.headerAt(name, at) : view.header(name)
      if (mime === undefined) yield* values
      else for (const value of values) yield* elementsOf(name, value, mime.element, context.meter)
    }
  }
}

function* dates(source: SieveSource & { of: 'date' }, { view, receivedAt }: SourceContext): Generator<SieveValue> {
  const { name, zone, part, at } = source
  if (name === null) {
    yield new SieveValue(datePart(receivedAt, zone === 'original' ? 0 : zone, part))
    return
  }
  // RFC 5260 §4: the first field, unless an index is given.
  const value = fieldAt(view.header(name), at ?? { index: 1, fromLast: false })
  const date = value && dateIn(value.octets)
  if (date) yield new SieveValue(datePart(date.at, zone === 'original' ? date.zone : zone, part))
}

function envelopeAddress({ mailFrom, rcptTo }: SourceContext, end: 'from' | 'to'): string {
  return end === 'from' ? mailFrom : rcptTo
}
