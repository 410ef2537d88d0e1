/** The frame around every screen. */
import { useEffect, useState } from "preact/hooks";
import { getMe } from "./api/calls";
import { allowed, Nav } from "./layout/nav";
import { SignIn } from "./layout/sign-in";
import { Button } from "./parts/button";
import { Empty, Failure, Loading } from "./parts/states";
import { Toasts } from "./parts/toasts";
import { SCREENS } from "./screens";
import { language, t } from "./i18n";
import { isGone } from "./state/connection";
import { useLoad } from "./state/load";
import { goTo, lastOwner, linkTo, place } from "./state/router";
import { apiKey, me } from "./state/session";

export function App() {
  const caller = useLoad(`me ${apiKey.value ?? ""}`, getMe);
  useEffect(() => {
    if (!caller.data) return;
    me.value = caller.data;
    const { user_id } = caller.data;
    if (!user_id) return;
    const self = { kind: "user", name: user_id } as const;
    lastOwner.value ??= self;
    if (place.value.screen === "people") goTo(linkTo("memories", self));
  }, [caller.data]);

  if (caller.error?.status === 401 || (me.value === null && caller.error?.code === "unauthorized")) return <SignIn />;
  return (
    <>
      {isGone.value && (
        <div class="banner" role="alert">
          {t("state.gone")}
        </div>
      )}
      {me.value ? <Frame /> : <Waiting error={caller.error} retry={caller.reload} />}
      <Toasts />
    </>
  );
}

function Waiting({ error, retry }: { error: Parameters<typeof Failure>[0]["error"] | null; retry: () => void }) {
  return <main class="waiting">{error ? <Failure error={error} retry={retry} /> : <Loading rows={3} />}</main>;
}

function Frame() {
  const [isOpen, setOpen] = useState(false);
  const { owner, screen: id } = place.value;
  const screen = SCREENS.find((item) => item.id === id && item.scope === (owner ? "person" : "service"));
  useEffect(() => {
    if (owner) lastOwner.value = owner;
  }, [owner?.kind, owner?.name]);
  const title = screen ? t(screen.title) : "";
  useEffect(() => {
    document.title = [owner?.name, title, "Ebbing"].filter(Boolean).join(" · ");
    window.scrollTo(0, 0);
  }, [owner?.name, id, title]);
  return (
    <div class="frame" key={language.value}>
      <a class="skip" href="#main" onClick={skip}>
        {t("nav.skip")}
      </a>
      <header class="bar">
        <Button
          kind="quiet"
          icon="menu"
          label={t("nav.label")}
          expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        />
        <span class="bar-title">{title || "Ebbing"}</span>
      </header>
      <Nav isOpen={isOpen} onGo={() => setOpen(false)} />
      {isOpen && <div class="shade" onClick={() => setOpen(false)} />}
      <main id="main" tabIndex={-1}>
        {screen && allowed(screen) ? (
          <screen.view key={`${owner?.kind} ${owner?.name} ${id}`} owner={owner ?? lastOwner.value ?? NOBODY} />
        ) : (
          <Empty title={t(screen ? "error.forbidden" : "error.no_screen")}>
            <a href={linkTo("people")}>{t("people.title")}</a>
          </Empty>
        )}
      </main>
    </div>
  );
}

/** What screens of the service get, which look at nobody. */
const NOBODY = { kind: "user", name: "" } as const;

function skip(event: MouseEvent) {
  event.preventDefault();
  document.getElementById("main")?.focus();
}
