// Labels of conversations: their marks, the menu that gives and takes them, and a new one.

import { signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import type { Thread } from '../api/types.ts'
import { hueOf } from '../base/people.ts'
import { Dialog, FormFoot } from '../parts/dialog.tsx'
import { TextField } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { Menu, type MenuItem } from '../parts/menu.tsx'
import { mail as words } from '../words/en/mail.ts'
import { setLabel } from './commands.ts'
import { type Mail, useMail } from './mail-context.ts'

/** What a keyword may not have (RFC 9051, atoms), as the server refuses it. */
const NO_ATOM = /[^!#$&'+-Z[^-z|}~]+/g

/** "Suppliers", of the keyword "suppliers". */
export const labelName = (keyword: string) => keyword.charAt(0).toUpperCase() + keyword.slice(1).replaceAll('-', ' ')

const keywordOf = (name: string) => name.trim().toLowerCase().replaceAll(/\s+/g, '-').replaceAll(NO_ATOM, '')

const has = (thread: Thread, keyword: string) => thread.keywords.includes(keyword)

export function LabelDot({ keyword }: { keyword: string }) {
  return <span class={`label-dot hue-${hueOf(keyword)}`} aria-hidden="true" />
}

/** The marks of a conversation. @param most shown; the others are counted */
export function Labels({ thread, most = 9 }: { thread: Thread; most?: number }) {
  const { data } = useMail()
  const labels = data.labels.value.filter((keyword) => has(thread, keyword))
  if (labels.length === 0) return null
  return (
    <span class="labels">
      {labels.slice(0, most).map((keyword) => (
        <span key={keyword} class={`label hue-${hueOf(keyword)}`}>
          {labelName(keyword)}
        </span>
      ))}
      {labels.length > most && <span class="soft meta">{words.labels.more(labels.length - most)}</span>}
    </span>
  )
}

/** The conversations that wait for the name of a new label. */
const naming = signal<readonly string[] | null>(null)

/** @param ids of the conversations that get or lose a label */
export function LabelMenu({ ids, threads }: { ids: readonly string[]; threads: readonly Thread[] }) {
  const mail = useMail()
  const items: MenuItem[] = mail.data.labels.value.map((keyword) => {
    const isOn = threads.length > 0 && threads.every((thread) => has(thread, keyword))
    return { label: labelName(keyword), isChosen: isOn, onPress: () => label(mail, ids, keyword, !isOn) }
  })
  items.push({ label: words.labels.create, icon: 'plus', onPress: () => (naming.value = ids) })
  return (
    <Menu class="icon-button" label={words.labels.label} items={items}>
      <Icon name="tag" />
    </Menu>
  )
}

function label(mail: Mail, ids: readonly string[], keyword: string, isOn: boolean): void {
  const threads = ids.flatMap((id) => mail.data.threads.get(id).peek() ?? [])
  setLabel(mail, threads, keyword, isOn, labelName(keyword))
}

/** Asks for the name of a new label. */
export function NewLabel() {
  return naming.value === null ? null : <NameLabel ids={naming.value} />
}

function NameLabel({ ids }: { ids: readonly string[] }) {
  const mail = useMail()
  const [name, setName] = useState('')
  const close = () => {
    naming.value = null
  }
  const keyword = keywordOf(name)
  const create = () => {
    if (keyword === '') return
    label(mail, ids, keyword, true)
    close()
  }
  return (
    <Dialog
      title={words.labels.createTitle}
      onClose={close}
      onSubmit={create}
      foot={<FormFoot verb={words.labels.give} action={{ isBusy: false }} isOff={keyword === ''} onClose={close} />}
    >
      <TextField label={words.labels.name} hint={words.labels.hint} value={name} onValue={setName} hasFocus />
    </Dialog>
  )
}
