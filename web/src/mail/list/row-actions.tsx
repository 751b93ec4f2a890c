// The buttons over the row under the pointer: one toolbar outside of the options, which may hold no buttons.

import { IconButton } from '../../parts/button.tsx'
import { mail as words } from '../../words/en/mail.ts'
import { commandButton } from '../command-buttons.ts'
import { type Command, commandsFor, run } from '../commands.ts'
import { useMail } from '../mail-context.ts'

interface RowActionsProps {
  /** Of the row; -1 for none. */
  index: number
  threadId: string | undefined
  /** Where the row begins, px. */
  top: number
}

/** What is offered on a row; the rest is in the reader. */
const ON_ROWS: readonly Command[] = ['archive', 'notJunk', 'trash', 'snooze', 'read']

export function RowActions({ index, threadId, top }: RowActionsProps) {
  const mail = useMail()
  const thread = threadId === undefined ? undefined : mail.data.threads.get(threadId).value
  if (thread === undefined) return null
  const commands = commandsFor(mail).filter((command) => ON_ROWS.includes(command))
  if (commands.length === 0) return null
  return (
    <div
      class="row-actions"
      role="toolbar"
      aria-label={words.actions}
      data-index={index}
      style={{ transform: `translateY(${top}px)` }}
    >
      {commands.map((command) => {
        const { icon, label } = commandButton(command, [thread], mail.folder)
        return <IconButton key={command} icon={icon} label={label} onPress={() => run(mail, command, [thread.id])} />
      })}
    </div>
  )
}
