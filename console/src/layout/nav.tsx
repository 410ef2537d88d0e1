/** The navigation: screens of the service, and of the person who was last looked at. */
import { t } from "../i18n";
import { Icon, Mark } from "../parts/icons";
import { Button, classes } from "../parts/button";
import { Said } from "../parts/text";
import { SCREENS, type Screen } from "../screens";
import { lastOwner, linkTo, place } from "../state/router";
import { me, may, mayRunTenant, signOut, apiKey } from "../state/session";
import { Looks } from "./looks";

export function Nav({ isOpen, onGo }: { isOpen: boolean; onGo: () => void }) {
  const owner = lastOwner.value;
  const shown = SCREENS.filter((screen) => screen.inNav && allowed(screen));
  return (
    <nav class={classes("nav", isOpen && "is-open")} id="nav" aria-label={t("nav.label")} onClick={onGo}>
      <a class="brand" href={linkTo("people")}>
        <Mark />
        <span>Ebbing</span>
      </a>
      <ul>{shown.filter((screen) => screen.scope === "service").map((screen) => <Item key={screen.id} screen={screen} />)}</ul>
      {owner && (
        <>
          <p class="nav-heading">
            <Said text={owner.name} cut={40} />
          </p>
          <ul>
            {shown.filter((screen) => screen.scope === "person").map((screen) => <Item key={screen.id} screen={screen} />)}
          </ul>
        </>
      )}
      <div class="nav-foot">
        <Looks />
        <a class="button quiet small" href="/docs">
          <Icon name="docs" size={16} />
          <span>{t("nav.docs")}</span>
        </a>
        {apiKey.value && (
          <Button kind="quiet" small icon="signout" onClick={() => signOut()}>
            {t("nav.signout")}
          </Button>
        )}
        {me.value?.version && <p class="version">{me.value.version}</p>}
      </div>
    </nav>
  );
}

export function allowed(screen: Screen): boolean {
  if (screen.needs === "tenant") return mayRunTenant();
  if (screen.needs === "everybody") return me.value?.user_id == null;
  return screen.needs ? may(screen.needs) : true;
}

function Item({ screen }: { screen: Screen }) {
  const owner = screen.scope === "person" ? lastOwner.value : null;
  const isHere = place.value.screen === screen.id || screen.also?.includes(place.value.screen);
  return (
    <li>
      <a href={linkTo(screen.id, owner)} aria-current={isHere ? "page" : undefined}>
        <Icon name={screen.icon} />
        <span>{t(screen.title)}</span>
      </a>
    </li>
  );
}
