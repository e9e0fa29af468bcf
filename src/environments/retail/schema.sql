-- One row for each member of the data files. Columns of type json keep the text of the file: the order of members shows in results.
-- A column that is null is a member that is absent.
create table users (
  user_id text primary key,
  name json not null,
  address json not null,
  email text not null,
  payment_methods json not null,
  orders json not null
);

create table products (
  product_id text primary key,
  name text not null,
  variants json not null
);

create table orders (
  order_id text primary key,
  user_id text not null,
  address json not null,
  items json not null,
  fulfillments json not null,
  status text not null,
  payment_history json not null,
  cancel_reason text,
  exchange_items json,
  exchange_new_items json,
  exchange_payment_method_id text,
  exchange_price_difference numeric check (scale(exchange_price_difference) <= 2),
  return_items json,
  return_payment_method_id text
);
