// The icon, the name and the key of each command.

import type { Folder, Thread } from '../api/types.ts'
import type { IconName } from '../look/icons.ts'
import { mail as words } from '../words/en/mail.ts'
import { type Command, isFlagged } from './commands.ts'

interface CommandButton {
  icon: IconName
  label: string
  /** As the list of keys shows it. */
  key: string
}

/** @param threads that the command is for */
export function commandButton(command: Command, threads: readonly Thread[], folder: Folder | null): CommandButton {
  const isUnread = threads.some(({ unread_count: unread }) => unread > 0)
  const areFlagged = threads.length > 0 && threads.every(isFlagged)
  const areMuted = threads.length > 0 && threads.every(({ is_muted: isMuted }) => isMuted)
  const buttons: Record<Command, CommandButton> = {
    archive: { icon: 'archive', label: words.archive, key: 'e' },
    trash: { icon: 'trash-2', label: words.trash, key: '#' },
    junk: { icon: 'octagon-alert', label: words.junk, key: '!' },
    notJunk: { icon: 'inbox', label: folder?.role === 'junk' ? words.notJunk : words.toInbox, key: '!' },
    snooze: { icon: 'clock', label: words.snooze.title, key: 'b' },
    mute: { icon: 'bell-off', label: areMuted ? words.unmute : words.mute, key: 'm' },
    flag: { icon: 'flag', label: areFlagged ? words.unflag : words.flag, key: 's' },
    read: {
      icon: isUnread ? 'mail-open' : 'mail',
      label: isUnread ? words.markRead : words.markUnread,
      key: isUnread ? 'Shift+I' : 'Shift+U',
    },
  }
  return buttons[command]
}
