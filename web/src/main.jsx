// SPDX-FileCopyrightText: 2026 gpumanager contributors
// SPDX-License-Identifier: MIT
import { render } from 'preact';
import 'uplot/dist/uPlot.min.css';
import './style/roles.css';
import './style/page.css';
import './style/tiles.css';
import './style/views.css';
import { start, connection } from './data/connection.js';
import { requestFrame } from './data/frame.js';
import { startTheme } from './state/theme.js';
import { startKeyboard } from './state/keyboard.js';
import { startTab } from './state/tab.js';
import { route } from './state/route.js';
import { Header, Banners } from './view/header.jsx';
import { Overview } from './view/overview.jsx';
import { GpuView, AllCharts } from './view/gpu.jsx';
import { HostView } from './view/host.jsx';
import { Help } from './view/help.jsx';

function View() {
  const { view, gpu } = route.value;
  if (view === 'gpu') return <GpuView name={gpu} />;
  if (view === 'host') return <HostView />;
  if (view === 'charts') return <AllCharts />;
  return <Overview />;
}

function App() {
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById('main').focus(); }}>To the content</a>
      <Header />
      <Banners />
      <main id="main" tabIndex={-1} class={connection.value.state === 'lost' ? 'is-old' : ''}><View /></main>
      <Help />
    </>
  );
}

start(); // first: the line is made while the page is built
startTheme();
startKeyboard();
startTab();
render(<App />, document.getElementById('page'));
route.subscribe(requestFrame);
