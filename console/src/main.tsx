/** Starts the console. */
import { render } from "preact";
import { App } from "./app";
import { watchService } from "./state/connection";
import { applyTheme } from "./state/theme";
import "./style/index.css";

applyTheme();
watchService();
const root = document.getElementById("app");
if (root) render(<App />, root);
