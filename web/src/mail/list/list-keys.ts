// The keys of the list box: they move in the list, open a conversation, and tick it.

import type { TargetedKeyboardEvent } from 'preact'
import type { ThreadList } from '../../sync/thread-list.ts'
import { cursor, toggleSelected } from '../mail-context.ts'

interface ListPlace {
  list: ThreadList
  /** Where the keys are; -1 for nowhere. */
  active: number
  total: number
  rowHeight: number
}

export function pressInList(
  event: TargetedKeyboardEvent<HTMLElement>,
  { list, active, total, rowHeight }: ListPlace,
  open: (threadId: string) => void,
): void {
  const page = Math.max(1, Math.floor(event.currentTarget.clientHeight / rowHeight) - 1)
  const steps: Record<string, number> = {
    ArrowDown: active + 1,
    ArrowUp: active - 1,
    PageDown: active + page,
    PageUp: active - page,
    Home: 0,
    End: total - 1,
  }
  const id = cursor.peek()
  const step = steps[event.key]
  if (event.key === 'Enter' && id !== null) open(id)
  else if (event.key === ' ' && id !== null) toggleSelected(id)
  else if (step !== undefined) moveTo(list, Math.max(0, Math.min(total - 1, step)))
  else return
  event.preventDefault()
}

/** Its page may have to be read first. */
function moveTo(list: ThreadList, index: number): void {
  void list.showThen(index).then((id) => {
    if (id !== undefined) cursor.value = id
  })
}
