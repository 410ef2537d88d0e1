/** Fields of forms, each with its label. */
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { classes } from "./button";

interface Labelled {
  label: string;
  hint?: string;
  /** The label is read out and not shown. */
  quiet?: boolean;
}

function Field({ id, label, hint, quiet, children }: Labelled & { id: string; children: ComponentChildren }) {
  return (
    <div class="field">
      <label for={id} class={quiet ? "unseen" : undefined}>
        {label}
      </label>
      {children}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

interface InputProps extends Labelled {
  value: string;
  onInput: (value: string) => void;
  type?: "text" | "password" | "search" | "date" | "number";
  placeholder?: string;
  min?: string | number;
  max?: string | number;
  step?: string | number;
  autofocus?: boolean;
  invalid?: boolean;
  list?: readonly string[];
}

export function Input(props: InputProps) {
  const id = useId();
  return (
    <Field id={id} label={props.label} hint={props.hint} quiet={props.quiet}>
      <input
        id={id}
        type={(props.type ?? "text") as "text"}
        value={props.value}
        placeholder={props.placeholder}
        min={props.min}
        max={props.max}
        step={props.step}
        autofocus={props.autofocus}
        autocomplete="off"
        spellcheck={false}
        aria-invalid={props.invalid}
        aria-describedby={props.hint ? `${id}-hint` : undefined}
        list={props.list ? `${id}-list` : undefined}
        onInput={(event) => props.onInput(event.currentTarget.value)}
      />
      {props.list && (
        <datalist id={`${id}-list`}>
          {props.list.map((value) => (
            <option key={value} value={value} />
          ))}
        </datalist>
      )}
    </Field>
  );
}

interface AreaProps extends Labelled {
  value: string;
  onInput: (value: string) => void;
  rows?: number;
  placeholder?: string;
}

export function TextArea(props: AreaProps) {
  const id = useId();
  return (
    <Field id={id} label={props.label} hint={props.hint} quiet={props.quiet}>
      <textarea
        id={id}
        rows={props.rows ?? 4}
        dir="auto"
        value={props.value}
        placeholder={props.placeholder}
        aria-describedby={props.hint ? `${id}-hint` : undefined}
        onInput={(event) => props.onInput(event.currentTarget.value)}
      />
    </Field>
  );
}

export interface Choice {
  value: string;
  label: string;
}

interface SelectProps extends Labelled {
  value: string;
  /** The choice that narrows nothing; any other one is marked. */
  usual?: string;
  choices: readonly Choice[];
  onChange: (value: string) => void;
}

export function Select(props: SelectProps) {
  const id = useId();
  return (
    <Field id={id} label={props.label} hint={props.hint} quiet={props.quiet}>
      <select
        id={id}
        value={props.value}
        class={classes(props.value !== (props.usual ?? "") && "chosen")}
        onChange={(event) => props.onChange(event.currentTarget.value)}
      >
        {props.choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
    </Field>
  );
}

interface CheckProps {
  label: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
  quiet?: boolean;
}

export function Check({ label, checked, onChange, quiet }: CheckProps) {
  return (
    <label class="check">
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} />
      <span class={quiet ? "unseen" : undefined}>{label}</span>
    </label>
  );
}
