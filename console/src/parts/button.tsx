/** Buttons and links that look like them. */
import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icons";

interface Look {
  kind?: "plain" | "primary" | "danger" | "quiet";
  icon?: IconName;
  small?: boolean;
}

interface ButtonProps extends Look {
  onClick?: (event: MouseEvent) => void;
  children?: ComponentChildren;
  /** What it does, where no words stand on it. */
  label?: string;
  type?: "button" | "submit";
  disabled?: boolean;
  pressed?: boolean;
  expanded?: boolean;
  class?: string;
}

export function Button(props: ButtonProps) {
  const { kind = "plain", icon, small, label, children } = props;
  return (
    <button
      type={props.type ?? "button"}
      class={classes("button", kind, small && "small", !children && "icon-only", props.class)}
      onClick={props.onClick}
      disabled={props.disabled}
      aria-label={label}
      title={label}
      aria-pressed={props.pressed}
      aria-expanded={props.expanded}
    >
      {icon && <Icon name={icon} size={small ? 16 : 18} />}
      {children && <span>{children}</span>}
    </button>
  );
}

interface LinkProps extends Look {
  href: string;
  children: ComponentChildren;
}

export function ButtonLink({ href, kind = "plain", icon, small, children }: LinkProps) {
  return (
    <a href={href} class={classes("button", kind, small && "small")}>
      {icon && <Icon name={icon} size={small ? 16 : 18} />}
      <span>{children}</span>
    </a>
  );
}

export function classes(...names: (string | false | null | undefined)[]): string {
  return names.filter(Boolean).join(" ");
}
