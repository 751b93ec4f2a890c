// Buttons that copy, and secrets that are shown once.

import { useEffect, useState } from 'preact/hooks'
import { common } from '../words/en/common.ts'
import { Button, IconButton } from './button.tsx'

const COPIED_MS = 2000

function useCopy(text: string) {
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), COPIED_MS)
    return () => clearTimeout(timer)
  }, [isCopied])
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
  }
  return { isCopied, copy: () => void copy().catch(() => setCopied(false)) }
}

/** A small button after a value; `what` completes "Copy …". */
export function CopyIcon({ text, what }: { text: string; what: string }) {
  const { isCopied, copy } = useCopy(text)
  return (
    <>
      <IconButton
        icon={isCopied ? 'check' : 'copy'}
        label={isCopied ? common.copied : common.copyOf(what)}
        isTiny
        onPress={copy}
      />
      <span class="hidden-word" aria-live="polite">
        {isCopied ? common.copied : ''}
      </span>
    </>
  )
}

export function CopyButton({ text, label = common.copy }: { text: string; label?: string }) {
  const { isCopied, copy } = useCopy(text)
  return (
    <Button size="short" icon={isCopied ? 'check' : 'copy'} onPress={copy}>
      <span aria-live="polite">{isCopied ? common.copied : label}</span>
    </Button>
  )
}

/** A value of code with its copy button; long ones are cut in the middle of the page, never in the copy. */
export function CodeValue({ text, what }: { text: string; what: string }) {
  return (
    <span class="record-value">
      <code class="cut" title={text}>
        {text}
      </code>
      <CopyIcon text={text} what={what} />
    </span>
  )
}

/** Something that is shown once. */
export function Secret({ text }: { text: string }) {
  return (
    <div class="secret">
      <code>{text}</code>
      <CopyButton text={text} />
    </div>
  )
}
