// The headers of MIME parts, as tests with `:mime` look at them (RFC 5703 §4).

import type { Part } from '../mime/message.ts'
import { parseStructured } from '../mime/parameters.ts'
import type { ParsedArguments, ScriptChecker, TagRule } from './arguments.ts'
import { within } from './body.ts'
import { octets } from './encoded.ts'
import type { MessageView } from './message-view.ts'
import type { WorkMeter } from './meter.ts'
import type { MimeElement, MimeScope } from './script.ts'
import { SieveValue } from './value.ts'

/** Tags of every test of header fields. */
export const MIME_TAGS: Readonly<Record<string, TagRule>> = {
  mime: { group: 'mime', needs: 'mime' },
  anychild: { group: 'anychild', needs: 'mime' },
}

/** Tags of `header` alone. */
export const ELEMENT_TAGS: Readonly<Record<string, TagRule>> = {
  type: { group: 'element', needs: 'mime' },
  subtype: { group: 'element', needs: 'mime' },
  contenttype: { group: 'element', needs: 'mime' },
  param: { group: 'element', takes: 'strings', needs: 'mime' },
}

/** @returns undefined for a test of the header of the message; null when something is wrong, which was reported to the checker */
export function mimeScope({ tags }: ParsedArguments, checker: ScriptChecker): MimeScope | undefined | null {
  const element = tags.get('element')
  const needing = tags.get('anychild') ?? element
  if (!tags.has('mime')) {
    if (needing === undefined) return undefined
    checker.wrong(needing.at, `":${needing.tag}" needs ":mime".`)
    return null
  }
  const named = element?.tag === 'param' ? { params: element.strings.map((name) => name.toLowerCase()) } : element?.tag
  return { anyChild: tags.has('anychild'), element: (named ?? null) as MimeElement | null }
}

/**
 * Views of the headers that a test looks at.
 * @param current part of the loop that the test is in; null outside of loops
 */
export function viewsOf(view: MessageView, current: Part | null, scope: MimeScope | undefined): MessageView[] {
  if (scope === undefined) return [view]
  const part = current ?? view.message.root
  if (part === null || (!scope.anyChild && current === null)) return [view]
  return scope.anyChild ? [...within(part)].map((one) => view.ofPart(one)) : [view.ofPart(part)]
}

/** An element of the value of a field: blank where a field of that name has none (RFC 5703 §4.1). */
export function elementsOf(
  name: string,
  value: SieveValue,
  element: MimeElement | null,
  meter: WorkMeter,
): SieveValue[] {
  if (element === null) return [value]
  meter.spend(value.octets.length)
  const { value: plain, parameters } = parseStructured(Buffer.from(value.octets, 'latin1').toString('utf8'))
  if (typeof element === 'object') return element.params.map((key) => new SieveValue(octets(parameters.get(key) ?? '')))
  return [new SieveValue(octets(plainElement(name, plain, element)))]
}

function plainElement(name: string, value: string, element: 'type' | 'subtype' | 'contenttype'): string {
  if (name === 'content-disposition') return element === 'subtype' ? '' : value
  if (name !== 'content-type') return ''
  const [type = '', subtype = ''] = value.split('/')
  if (element === 'contenttype') return value
  return element === 'type' ? type : subtype
}
