// Forms: a script sends them, and what is wrong is said at their fields instead of in the bubbles of the browser.

import type { ComponentChildren } from 'preact'

interface FormProps {
  class?: string
  onSubmit: () => void
  children: ComponentChildren
}

export function Form({ class: look, onSubmit, children }: FormProps) {
  return (
    <form
      class={look}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit()
      }}
    >
      {children}
    </form>
  )
}
