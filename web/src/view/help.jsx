// SPDX-FileCopyrightText: 2026 gpumanager contributors
// SPDX-License-Identifier: MIT
// The keyboard, on a sheet.
import { useEffect, useRef } from 'preact/hooks';
import { KEYS, isHelpOpen } from '../state/keyboard.js';
import { hello } from '../data/store.js';

export function Help() {
  const ref = useRef(null);
  const isOpen = isHelpOpen.value;
  useEffect(() => {
    if (isOpen && !ref.current.open) ref.current.showModal();
    if (!isOpen && ref.current.open) ref.current.close();
  }, [isOpen]);
  const close = () => { isHelpOpen.value = false; };
  return (
    <dialog ref={ref} aria-labelledby="help-title" onClose={close} onClick={(event) => { if (event.target === ref.current) close(); }}>
      <h2 id="help-title">Keyboard</h2>
      <dl>{KEYS.map(([key, text]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{text}</dd></div>)}</dl>
      <p class="dim">Charts: drag to zoom, double click to go live, the title makes one larger.</p>
      <p class="dim">gpumanager {hello.value?.version ?? ''}</p>
      <button type="button" onClick={close}>Close</button>
    </dialog>
  );
}
