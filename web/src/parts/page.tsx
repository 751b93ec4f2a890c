// The frame of one page: its title, a note, its actions, and the same request as a command.

import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { type ApiRequest, curlOf } from '../base/curl.ts'
import { common } from '../words/en/common.ts'
import { Button } from './button.tsx'
import { CopyButton } from './copy.tsx'
import { Dialog } from './dialog.tsx'

interface PageProps {
  title: string
  /** Beside the title, in few words. */
  note?: ComponentChildren
  /** Beside the title: a badge. */
  badge?: ComponentChildren
  /** Above the title: where the page belongs. */
  crumb?: { href: string; label: string }
  /** Below the title. */
  below?: ComponentChildren
  actions?: ComponentChildren
  /** The requests of this page. */
  curl?: readonly ApiRequest[]
  children: ComponentChildren
}

export function Page({ title, note, badge, crumb, below, actions, curl, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · ${common.product}`
  }, [title])
  return (
    <>
      <div class="page-head">
        {crumb !== undefined && (
          <p class="crumb">
            <a href={crumb.href}>{crumb.label}</a> /
          </p>
        )}
        <div class="page-title">
          <h1 tabIndex={-1}>{title}</h1>
          {badge}
          {note !== undefined && <span class="soft">{note}</span>}
          <div class="page-actions">
            {actions}
            {curl !== undefined && <AsCurl requests={curl} />}
          </div>
        </div>
        {below}
      </div>
      {children}
    </>
  )
}

/** What this page asks the server, for programs. */
function AsCurl({ requests }: { requests: readonly ApiRequest[] }) {
  const [isOpen, setOpen] = useState(false)
  const text = requests.map((request) => curlOf(request, location.origin)).join('\n\n')
  return (
    <>
      <Button kind="quiet" icon="terminal" onPress={() => setOpen(true)}>
        {common.asCurl}
      </Button>
      {isOpen && (
        <Dialog
          title={common.asCurlTitle}
          isWide
          onClose={() => setOpen(false)}
          foot={<CurlFoot text={text} onClose={() => setOpen(false)} />}
        >
          <p class="soft">{common.asCurlHint}</p>
          <pre class="code-block">{text}</pre>
        </Dialog>
      )}
    </>
  )
}

function CurlFoot({ text, onClose }: { text: string; onClose: () => void }) {
  return (
    <>
      <CopyButton text={text} />
      <Button onPress={onClose}>{common.close}</Button>
    </>
  )
}

/** Parts of one record, each with its own address. */
export function Tabs({
  label,
  tabs,
  current,
}: {
  label: string
  tabs: readonly { href: string; label: string; name: string }[]
  current: string
}) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map((tab) => (
        <a key={tab.name} class="tab" href={tab.href} aria-current={tab.name === current ? 'page' : undefined}>
          {tab.label}
        </a>
      ))}
    </nav>
  )
}

/** A part of a page with its own heading. */
export function Section({
  title,
  actions,
  note,
  children,
}: {
  title: string
  actions?: ComponentChildren
  note?: string
  children: ComponentChildren
}) {
  return (
    <section class="stack">
      <div class="row wide wrap">
        <div>
          <h2>{title}</h2>
          {note !== undefined && <p class="soft meta">{note}</p>}
        </div>
        {actions !== undefined && <div class="row">{actions}</div>}
      </div>
      {children}
    </section>
  )
}
