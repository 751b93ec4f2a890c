// The keys of the mail pages: those of Gmail where it has one. All of one character are off with one switch (WCAG 2.1.4).

import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { tinykeys } from 'tinykeys'
import { look } from '../base/look.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { common } from '../words/en/common.ts'
import { mail as words } from '../words/en/mail.ts'
import { shell } from '../words/en/shell.ts'
import { type Command, run } from './commands.ts'
import { openComposer } from './compose/state.ts'
import { clearSelection, cursor, folderOf, type Mail, nameInAddress, toggleSelected, useMail } from './mail-context.ts'
import { listOf, searchOf } from './places.ts'
import { selectAll } from './selection.ts'
import { undoLast } from './undo.ts'
import { isWide } from './widths.ts'

const isShown = signal(false)

/** Whether a key of one character is meant for a field, a menu or a dialog, or is turned off. */
const isTaken = (event: KeyboardEvent) =>
  !look.value.hasKeys ||
  document.querySelector('dialog[open]') !== null ||
  (event.target instanceof Element &&
    event.target.closest('input, textarea, select, dialog, [role="menu"], [contenteditable]') !== null)

const COMMANDS: Readonly<Record<string, Command>> = {
  e: 'archive',
  'Shift+#': 'trash',
  '#': 'trash',
  Delete: 'trash',
  'Shift+!': 'junk',
  '!': 'junk',
  s: 'flag',
  b: 'snooze',
  m: 'mute',
  'Shift+I': 'read',
  'Shift+U': 'read',
}

/** After `g`. */
const FOLDERS: Readonly<Record<string, string>> = { i: 'inbox', s: 'sent', t: 'sent', d: 'drafts', a: 'archive' }

/** Moves in the list; an open conversation gives way to the next one. */
function move({ list, place, go }: Mail, step: 1 | -1): void {
  if (list === null) return
  const at = list.indexOf(place.threadId ?? cursor.peek() ?? '')
  const index = at < 0 ? 0 : at + step
  const id = index < 0 ? undefined : list.idAt(index)
  if (id === undefined) return
  cursor.value = id
  if (place.threadId !== null) go({ ...place, threadId: id }, true)
  else document.querySelector<HTMLElement>('.window-list')?.focus({ preventScroll: true })
}

function open({ place, go }: Mail): void {
  const id = cursor.peek()
  if (id !== null && place.threadId === null) go({ ...place, threadId: id })
}

function back({ place, go }: Mail): void {
  if (place.threadId !== null) go(listOf(place))
  document.querySelector<HTMLElement>('.window-list')?.focus({ preventScroll: isWide() })
}

function goToFolder({ data, go }: Mail, name: string): void {
  const folder = folderOf(data.folders.peek() ?? [], name)
  if (folder !== null) go({ ...searchOf(data.mailbox.email, ''), folder: nameInAddress(folder) })
}

/** Answers the last message of the open conversation. */
function answer({ data, place }: Mail, kind: 'reply' | 'replyAll' | 'forward'): void {
  if (place.threadId === null || !data.maySend) return
  const messages = data.conversations.open(place.threadId).peek().messages ?? []
  const last = messages.findLast(({ flags }) => !flags.draft)
  if (last !== undefined) void openComposer(data, { kind, messageId: last.id })
}

function goToSearch(): void {
  document.querySelector<HTMLInputElement>('[data-search]')?.focus()
}

function bindings(mail: () => Mail): Record<string, (event: KeyboardEvent) => void> {
  const simple: Record<string, (one: Mail) => unknown> = {
    j: (one) => move(one, 1),
    k: (one) => move(one, -1),
    o: open,
    u: back,
    Escape: back,
    x: (one) => {
      const id = one.place.threadId ?? cursor.peek()
      if (id !== null) toggleSelected(id)
    },
    c: ({ data }) => data.maySend && void openComposer(data, { kind: 'new' }),
    r: (one) => answer(one, 'reply'),
    a: (one) => answer(one, 'replyAll'),
    f: (one) => answer(one, 'forward'),
    z: ({ data }) => undoLast(data),
    'Shift+* a': selectAll,
    'Shift+* n': clearSelection,
    '/': goToSearch,
    'Shift+/': goToSearch,
    'Shift+?': () => (isShown.value = true),
    '?': () => (isShown.value = true),
    ...Object.fromEntries(Object.entries(COMMANDS).map(([key, command]) => [key, (one: Mail) => run(one, command)])),
    ...Object.fromEntries(
      Object.entries(FOLDERS).map(([key, name]) => [`g ${key}`, (one: Mail) => goToFolder(one, name)]),
    ),
  }
  return Object.fromEntries(
    Object.entries(simple).map(([key, act]) => [
      key,
      (event: KeyboardEvent) => {
        if (isTaken(event)) return
        event.preventDefault()
        act(mail())
      },
    ]),
  )
}

export function MailKeys() {
  const mail = useMail()
  const latest = useRef(mail)
  latest.current = mail
  useEffect(
    () =>
      tinykeys(
        window,
        bindings(() => latest.current),
        { ignore: ({ isComposing }) => isComposing },
      ),
    [],
  )
  return isShown.value ? <KeyList /> : null
}

/** What each key does, in the order of use. */
const LISTED = [
  ['move', ['j', 'k']],
  ['open', ['Enter', 'o']],
  ['back', ['u', 'Esc']],
  ['select', ['x']],
  ['selectAll', ['* a', '* n']],
  ['write', ['c', 'r', 'a', 'f']],
  ['archive', ['e']],
  ['trash', ['#']],
  ['junk', ['!']],
  ['flag', ['s']],
  ['snooze', ['b']],
  ['mute', ['m']],
  ['read', ['Shift+I', 'Shift+U']],
  ['undo', ['z']],
  ['search', ['/']],
  ['folders', ['g i', 'g s', 'g d', 'g a']],
  ['list', ['?']],
] as const

function KeyList() {
  const close = () => {
    isShown.value = false
  }
  return (
    <Dialog title={words.keys.title} onClose={close} foot={<Button onPress={close}>{common.close}</Button>}>
      <dl class="shortcuts">
        {LISTED.map(([name, keys]) => (
          <div key={name}>
            <dt>{words.keys[name]}</dt>
            <dd>
              {keys.map((key) => (
                <kbd key={key} class="key-hint">
                  {key}
                </kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
      <p class="soft meta">{shell.shortcutsNote}</p>
    </Dialog>
  )
}
