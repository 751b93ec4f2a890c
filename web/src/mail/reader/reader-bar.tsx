// Above the open conversation: back, what is done with it, and the way to the next one.

import type { Thread } from '../../api/types.ts'
import { IconButton } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Menu } from '../../parts/menu.tsx'
import { mail as words } from '../../words/en/mail.ts'
import { commandButton } from '../command-buttons.ts'
import { commandsFor, isInMenu, moveTo, run } from '../commands.ts'
import { LabelMenu } from '../labels.tsx'
import { cursor, folderName, placeName, useMail } from '../mail-context.ts'
import { hrefOf, listOf } from '../places.ts'

interface ReaderBarProps {
  threadId: string
  thread: Thread | undefined
}

export function ReaderBar({ threadId, thread }: ReaderBarProps) {
  const mail = useMail()
  const { place, folder } = mail
  const back = placeName(place, folder)
  return (
    <div class="reader-bar">
      <a class="reader-back" href={hrefOf(listOf(place))}>
        <Icon name="chevron-left" />
        <span class="hidden-word">{words.backTo(back)}</span>
        <span aria-hidden="true">{back}</span>
      </a>
      <div class="reader-actions" role="toolbar" aria-label={words.actions}>
        {thread !== undefined &&
          commandsFor(mail)
            .filter((command) => !isInMenu(command))
            .map((command) => {
              const { icon, label } = commandButton(command, [thread], folder)
              return (
                <IconButton key={command} icon={icon} label={label} onPress={() => run(mail, command, [threadId])} />
              )
            })}
        {thread !== undefined && mail.data.mayChange && <MoveMenu threadId={threadId} />}
        {thread !== undefined && mail.data.mayChange && <LabelMenu ids={[threadId]} threads={[thread]} />}
        {thread !== undefined && <MoreMenu thread={thread} />}
      </div>
      <Neighbors threadId={threadId} />
    </div>
  )
}

/** What is done seldom. */
function MoreMenu({ thread }: { thread: Thread }) {
  const mail = useMail()
  const items = commandsFor(mail)
    .filter(isInMenu)
    .map((command) => {
      const { icon, label, key } = commandButton(command, [thread], mail.folder)
      return { icon, label, note: key, onPress: () => run(mail, command, [thread.id]) }
    })
  if (items.length === 0) return null
  return (
    <Menu class="icon-button" label={words.threadMenu} items={items}>
      <Icon name="ellipsis" />
    </Menu>
  )
}

function MoveMenu({ threadId }: { threadId: string }) {
  const mail = useMail()
  const targets = (mail.data.folders.value ?? []).filter(
    ({ id, role }) => id !== mail.folder?.id && role !== 'sent' && role !== 'drafts',
  )
  const items = targets.map((folder) => ({
    label: folder.role === null ? folder.path : folderName(folder),
    onPress: () => moveTo(mail, folder, [threadId]),
  }))
  if (items.length === 0) return null
  return (
    <Menu class="icon-button" label={words.move} items={items}>
      <Icon name="folder-input" />
    </Menu>
  )
}

function Neighbors({ threadId }: { threadId: string }) {
  const { list, place, go } = useMail()
  // Places in the list change with it.
  const version = list?.version.value ?? 0
  const at = list?.indexOf(threadId) ?? -1
  const total = list?.total.value ?? null
  if (list === null || at < 0 || total === null) return null
  const open = (index: number) => {
    const id = index < 0 ? undefined : list.idAt(index)
    if (id === undefined) return
    cursor.value = id
    go({ ...place, threadId: id }, true)
  }
  return (
    <div class="reader-neighbors" data-version={version}>
      <span class="soft meta">{words.placeInList(at + 1, total)}</span>
      <IconButton icon="chevron-up" label={words.previous} onPress={() => open(at - 1)} />
      <IconButton icon="chevron-down" label={words.next} onPress={() => open(at + 1)} />
    </div>
  )
}
