import DefaultTheme from "vitepress/theme";
import "./phone.css";

export default DefaultTheme;
