// What the sections of one FETCH may read of a message: parts of a section and of decoded content could name all its bytes many times.

import type { Part } from '../../mime/message.ts'
import type { FetchItem } from '../grammar/fetch-items.ts'
import { FETCH_READ_BYTES, FETCH_READS } from '../grammar/limits.ts'
import { type FetchPlan, oldSection } from './message-content.ts'
import { type ResolvedSection, resolveBinary, resolveSection } from './sections.ts'

/** Whether the sections of a plan may read a message more often than {@link FETCH_READS} times. */
export function readsOften({ sections }: FetchPlan): boolean {
  return sections.length > FETCH_READS
}

/** Whether the sections read more of a message than a FETCH may. */
export function readsTooMuch({ sections }: FetchPlan, root: Part): boolean {
  const read = sections.reduce((bytes, item) => bytes + readBytes(resolveItem(root, item)), 0)
  return read > Math.max(FETCH_READS * root.bodyEnd, FETCH_READ_BYTES)
}

function resolveItem(root: Part, item: FetchItem): ResolvedSection | null {
  switch (item.kind) {
    case 'body':
      return resolveSection(root, item.section, item.range)
    case 'binary':
      return resolveBinary(root, item.part, item.range)
    case 'plain': {
      const section = oldSection(item.name)
      return section === undefined ? null : resolveSection(root, section)
    }
    default:
      return null
  }
}

function readBytes(section: ResolvedSection | null): number {
  return section?.kind === 'bytes' || section?.kind === 'fields' ? section.end - section.start : 0
}
